//! `GET /health/live` and `GET /health/ready`: answer probes with 200 or 503, without causes.

use std::time::Duration;

use axum::{Json, extract::State};
use serde::Serialize;
use tokio::time::timeout;
use utoipa::ToSchema;

use crate::{
    app::App,
    problems::{
        Code, Problem, ProblemType,
        responses::{Examples, problems},
    },
};

/// How long the database may take to answer before it counts as unavailable.
const DATABASE_LIMIT: Duration = Duration::from_secs(1);

const EXAMPLES: Examples =
    Examples { file: None, invalid: ("wait", Code::Unknown, "unknown query parameter \"wait\"") };

problems! {
    /// The problems of the readiness probe.
    ReadyProblems at "/health/ready", EXAMPLES: Internal, Draining, Unavailable,
}

/// The answer to a health probe.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Health)]
pub(crate) struct HealthBody {
    /// `live` or `ready`.
    #[schema(example = "ready")]
    status: &'static str,
}

/// Answers 200 while the process runs.
#[utoipa::path(
    get,
    path = "/health/live",
    operation_id = "health-live",
    tag = "operations",
    summary = "Check whether the process runs",
    responses((status = 200, description = "The process runs.", body = HealthBody, example = json!({"status": "live"}))),
)]
pub(crate) async fn live() -> Json<HealthBody> {
    Json(HealthBody { status: "live" })
}

/// Answers 200 if the process accepts requests and reaches its database.
#[utoipa::path(
    get,
    path = "/health/ready",
    operation_id = "health-ready",
    tag = "operations",
    summary = "Check whether the process accepts requests",
    responses(
        (status = 200, description = "The process accepts requests.", body = HealthBody, example = json!({"status": "ready"})),
        ReadyProblems,
    ),
)]
pub(crate) async fn ready(State(app): State<App>) -> Result<Json<HealthBody>, Problem> {
    if app.is_draining() {
        return Err(Problem::of(ProblemType::Draining));
    }
    let asked = sqlx::query("select 1").execute(&app.database.durable);
    match timeout(DATABASE_LIMIT, asked).await {
        Ok(Ok(_)) => Ok(Json(HealthBody { status: "ready" })),
        Ok(Err(error)) => {
            tracing::warn!(%error, "not ready: the database cannot be reached");
            Err(Problem::of(ProblemType::Unavailable))
        }
        Err(_) => {
            tracing::warn!("not ready: the database did not answer in time");
            Err(Problem::of(ProblemType::Unavailable))
        }
    }
}
