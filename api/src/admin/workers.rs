//! `/v1/admin/workers`: lists the workers, and drains and resumes them.

use akhar_jobs::Queue;
use akhar_operators::workers::{self, Worker};
use akhar_requests::QUICK;
use axum::{
    Json,
    extract::State,
    http::{StatusCode, Uri},
    response::{IntoResponse as _, Response},
};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use super::{name::Name, operator::Operator};
use crate::{
    app::App,
    http::context::AcceptsJson,
    input::{
        field::{File, field},
        fields::{Fields as _, fields},
        form::Form,
        names::unknown,
        query,
    },
    operations::form::Checked,
    problems::{Problem, ProblemType, Violation, responses::problems},
};

problems! {
    /// The problems of listing workers.
    ListProblems at "/v1/admin/workers", [unknown("query parameter", "limit", &[])] => Unauthorized, OutOfScope, Forbidden, NotAcceptable,
    InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

problems! {
    /// The problems of draining a worker.
    DrainProblems at "/v1/admin/workers/db1-4711-019d0f6e", DrainForm::violation() => MalformedBody, Unauthorized, OutOfScope, Forbidden, NotFound,
    BodyTimeout, TooLarge, UnsupportedContentType, InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

fields! {
    /// What a worker does.
    DrainForm {
        /// Whether it claims no more jobs.
        drain: bool = field("drain").required().wrong("yes"),
    }
}

impl Form for DrainForm {
    const FILE: Option<File> = None;
    const QUEUE: Queue = QUICK;
    type Checked = bool;

    fn check(self, _: &mut Vec<Violation>) -> Option<bool> {
        self.drain
    }

    fn example() -> Option<serde_json::Value> {
        Some(json!({"drain": true}))
    }
}

/// All workers.
#[derive(Serialize, ToSchema)]
#[schema(as = AdminWorkers)]
pub(crate) struct Workers {
    /// The workers.
    workers: Vec<Worker>,
}

/// Responds with all workers.
#[utoipa::path(
    get,
    path = "/v1/admin/workers",
    operation_id = "admin-list-workers",
    tag = "admin",
    summary = "List the workers with their heartbeats and jobs",
    responses((status = 200, description = "The workers.", body = Workers), ListProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn list(
    State(app): State<App>,
    _operator: Operator,
    _accepts: AcceptsJson,
    uri: Uri,
) -> Result<Response, Problem> {
    Problem::reject_if_any(query::unexpected(&uri))?;
    let workers = workers::list(&app.database.pool).await?;
    Ok(Json(Workers { workers }).into_response())
}

/// Drains or resumes a worker.
#[utoipa::path(
    put,
    path = "/v1/admin/workers/{name}",
    operation_id = "admin-set-worker",
    tag = "admin",
    summary = "Make a worker claim no more jobs, or claim jobs again",
    description = "Needs the role `operate`. The worker follows within about a second, and finishes the jobs that it has.",
    params(("name" = String, Path, description = "The worker's name.")),
    responses((status = 204, description = "The worker does this."), DrainProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn set(
    State(app): State<App>,
    operator: Operator,
    Name(name): Name,
    form: Checked<DrainForm>,
) -> Result<StatusCode, Problem> {
    let db = &app.database.pool;
    if workers::drain(db, &operator.actor, &name, form.fields).await? {
        Ok(StatusCode::NO_CONTENT)
    } else {
        Err(Problem::of(ProblemType::NotFound))
    }
}
