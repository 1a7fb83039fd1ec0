//! `GET /health/live` and `GET /health/ready`: answer probes. The log has the causes. `/livez` and `/readyz` are the same.

use akhar_platform::config::ReadyNeeds;
use axum::{Json, extract::State};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    app::App,
    problems::{Problem, ProblemType, responses::problems},
    readiness::Found,
};

problems! {
    /// The problems of the liveness probe.
    LiveProblems at "/health/live", [] => MalformedRequest,
}
problems! {
    /// The problems of the readiness probe.
    ReadyProblems at "/health/ready", [] => MalformedRequest, Internal, Draining, Unavailable, NoWorker, StorageFull,
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
    responses(
        (status = 200, description = "The process runs.", body = HealthBody, example = json!({"status": "live"})),
        LiveProblems,
    ),
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
    let notes = match app.readiness.found().await {
        Ok(Found { is_worked_on: false, .. }) if needs == ReadyNeeds::Worker => {
            return Err(Problem::of(ProblemType::NoWorker));
        }
        Ok(Found { is_worked_on, notes }) => {
            let no_worker = (!is_worked_on).then(|| "no worker claims jobs".to_owned());
            notes.into_iter().chain(no_worker).collect()
        }
        Err(reason) if needs > ReadyNeeds::Process => return Err(reason.into()),
        Err(reason) => vec![reason.to_string()],
    };
    Ok(Json(HealthBody { status: "ready", notes }))
}
