//! `GET /health/live` and `GET /health/ready`: answer probes. The log has the causes. `/livez` and `/readyz` are the same.

use std::time::Duration;

use akhar_jobs::{
    Queue,
    store::{self, QueueControl},
};
use akhar_platform::{
    config::ReadyNeeds,
    database::{Database, NOT_NOTIFIED, write_temporary_files},
};
use axum::{Json, extract::State};
use serde::Serialize;
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
    /// What an operator should know: the queues that are paused or draining, that no worker claims jobs, that no notifications
    /// from Postgres arrive. Left out if there is none.
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

/// Answers 200 if the process accepts requests, its database can be reached and has space, and a worker claims jobs, as far
/// as `AKHAR_READY_NEEDS` asks for that. Queues that an operator has paused or drains are notes: results and requests for
/// other queues are answered.
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
    let needs = app.ready_needs();
    let notes = match timeout(DATABASE_LIMIT, check(&app.database, needs)).await {
        Ok(Ok(notes)) => notes,
        Ok(Err(problem)) if needs > ReadyNeeds::Process => return Err(problem),
        Err(_) if needs > ReadyNeeds::Process => {
            tracing::warn!("not ready: the database did not answer in time");
            return Err(Problem::of(ProblemType::Unavailable));
        }
        Ok(Err(_)) | Err(_) => vec!["the database does not answer, or has no space".to_owned()],
    };
    Ok(Json(HealthBody { status: "ready", notes }))
}

/// Checks that the database can be reached and has space, and that a worker claims jobs, if that is needed. Returns what an
/// operator should know.
async fn check(database: &Database, needs: ReadyNeeds) -> Result<Vec<String>, Problem> {
    let db = &database.pool;
    write_temporary_files(db).await?;
    let is_worked_on = store::any_alive(db).await?;
    if !is_worked_on && needs == ReadyNeeds::Worker {
        tracing::warn!("not ready: no worker claims jobs");
        return Err(Problem::of(ProblemType::NoWorker));
    }
    let controls = store::queue_controls(db).await?;
    let not_notified = (!database.is_notified()).then(|| NOT_NOTIFIED.to_owned());
    let no_worker = (!is_worked_on).then(|| "no worker claims jobs".to_owned());
    Ok(controls.iter().filter_map(note).chain(not_notified).chain(no_worker).collect())
}

fn note((queue, control): &(Queue, QueueControl)) -> Option<String> {
    let effect = control.mode.effect()?;
    Some(format!("the queue {} is {}: {effect}", queue.name(), control.mode.name()))
}
