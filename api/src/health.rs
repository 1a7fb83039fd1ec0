//! `GET /health/live` and `GET /health/ready`: answer probes. The log has the causes.

use std::time::Duration;

use akhar_jobs::{
    Queue,
    store::{self, QueueControl},
};
use akhar_platform::database::{NOT_NOTIFIED, write_temporary_files};
use axum::{Json, extract::State};
use serde::Serialize;
use sqlx::PgPool;
use tokio::time::timeout;
use utoipa::ToSchema;

use crate::{
    app::App,
    problems::{Problem, ProblemType, responses::problems},
};

/// How long the database may take to answer before it counts as unavailable.
const DATABASE_LIMIT: Duration = Duration::from_secs(1);

problems! {
    /// The problems of the readiness probe.
    ReadyProblems at "/health/ready", [] => Internal, Draining, Unavailable, NoWorker, StorageFull,
}

/// The answer to a health probe.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Health)]
pub(crate) struct HealthBody {
    /// `live` or `ready`.
    #[schema(example = "ready")]
    status: &'static str,
    /// What an operator has stopped (the queues that are paused or draining), and that no notifications from Postgres arrive.
    /// Left out if there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// Answers 200 while the process runs.
#[utoipa::path(
    get,
    path = "/health/live",
    operation_id = "health-live",
    tag = "operations",
    summary = "Check whether the process runs",
    responses((status = 200, description = "The process runs.", body = HealthBody, example = json!({"status": "live"}))),
    security(()),
)]
pub(crate) async fn live() -> Json<HealthBody> {
    Json(HealthBody { status: "live", notes: Vec::new() })
}

/// Answers 200 if the process accepts requests, its database can be reached and has space, and a worker claims jobs. Queues
/// that an operator has paused or drains are notes: results and requests for other queues are answered.
#[utoipa::path(
    get,
    path = "/health/ready",
    operation_id = "health-ready",
    tag = "operations",
    summary = "Check whether requests can be processed",
    responses(
        (status = 200, description = "The process accepts requests, and a worker claims jobs.", body = HealthBody, example = json!({"status": "ready"})),
        ReadyProblems,
    ),
    security(()),
)]
pub(crate) async fn ready(State(app): State<App>) -> Result<Json<HealthBody>, Problem> {
    if app.shutdown.leaving.is_cancelled() {
        return Err(Problem::of(ProblemType::Draining));
    }
    let Ok(checked) = timeout(DATABASE_LIMIT, check(&app.database.pool)).await else {
        tracing::warn!("not ready: the database did not answer in time");
        return Err(Problem::of(ProblemType::Unavailable));
    };
    let controls = checked?;
    let not_notified = (!app.database.is_notified()).then(|| NOT_NOTIFIED.to_owned());
    let notes = controls.iter().filter_map(note).chain(not_notified).collect();
    Ok(Json(HealthBody { status: "ready", notes }))
}

/// Checks that the database can be reached and has space, and that a worker claims jobs. Returns the modes of the queues.
async fn check(db: &PgPool) -> Result<Vec<(Queue, QueueControl)>, Problem> {
    write_temporary_files(db).await?;
    if store::any_alive(db).await? {
        Ok(store::queue_controls(db).await?)
    } else {
        tracing::warn!("not ready: no worker claims jobs");
        Err(Problem::of(ProblemType::NoWorker))
    }
}

fn note((queue, control): &(Queue, QueueControl)) -> Option<String> {
    let effect = control.mode.effect()?;
    Some(format!("the queue {} is {}: {effect}", queue.name(), control.mode.name()))
}
