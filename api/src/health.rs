//! `/health/*`: an orchestrator's question comes in, yes or 503 goes out, without causes.

use std::time::Duration;

use axum::{Json, extract::State};
use serde::Serialize;
use tokio::time::timeout;
use utoipa::ToSchema;

use crate::{
    app::App,
    problems::responses::ReadyProblems,
    problems::{Problem, ProblemType},
};

/// How long the database may take to answer.
const DATABASE_LIMIT: Duration = Duration::from_secs(1);

/// Yes.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Health)]
pub(crate) struct HealthBody {
    /// `live` or `ready`.
    #[schema(example = "ready")]
    status: &'static str,
}

/// Whether the process runs.
#[utoipa::path(
    get,
    path = "/health/live",
    operation_id = "health-live",
    tag = "operations",
    summary = "Whether the process runs",
    responses((status = 200, description = "It does.", body = HealthBody, example = json!({"status": "live"}))),
)]
pub(crate) async fn live() -> Json<HealthBody> {
    Json(HealthBody { status: "live" })
}

/// Whether it can take requests.
#[utoipa::path(
    get,
    path = "/health/ready",
    operation_id = "health-ready",
    tag = "operations",
    summary = "Whether requests may be sent here",
    responses(
        (status = 200, description = "They may.", body = HealthBody, example = json!({"status": "ready"})),
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
            tracing::warn!(%error, "not ready");
            Err(Problem::of(ProblemType::Unavailable))
        }
        Err(_) => {
            tracing::warn!("not ready: the database does not answer");
            Err(Problem::of(ProblemType::Unavailable))
        }
    }
}
