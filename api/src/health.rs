//! `/health/*`: a probe comes in, 200 or 503 goes out, without causes.

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

/// How long the database may take to answer.
const DATABASE_LIMIT: Duration = Duration::from_secs(1);

const EXAMPLES: Examples =
    Examples { file: None, invalid: ("wait", Code::Unknown, "unknown query parameter \"wait\"") };

problems! {
    /// Why a process is not ready.
    ReadyProblems at "/health/ready", EXAMPLES: Internal, Draining, Unavailable,
}

/// The state of the process.
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
    responses((status = 200, description = "The process runs.", body = HealthBody, example = json!({"status": "live"}))),
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
            tracing::warn!(%error, "not ready");
            Err(Problem::of(ProblemType::Unavailable))
        }
        Err(_) => {
            tracing::warn!("not ready: the database does not respond");
            Err(Problem::of(ProblemType::Unavailable))
        }
    }
}
