//! `/v1/admin/queues`: lists the queues, and pauses, drains and resumes them.

use akhar_jobs::{Queue, store::QueueMode};
use akhar_operators::{
    queues::{self, ModeChange, QueueState},
    until::{Until, Why},
};
use akhar_requests::{QUICK, queue_named};
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
    /// The problems of listing queues.
    ListProblems at "/v1/admin/queues", [unknown("query parameter", "limit", &[])] => Unauthorized, OutOfScope, Forbidden, NotAcceptable,
    InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

problems! {
    /// The problems of setting the mode of a queue.
    ModeProblems at "/v1/admin/queues/quick", ModeForm::violation() => MalformedBody, Unauthorized, OutOfScope, Forbidden, NotFound, BodyTimeout,
    TooLarge, UnsupportedContentType, InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

fields! {
    /// What happens to the jobs of a queue.
    ModeForm {
        /// `open`: they are accepted and run. `paused`: they are accepted, but none is started. `draining`: none is accepted, and those
        /// that wait are run.
        mode: QueueMode = field("mode").required().wrong("closed"),
        /// Why, for other operators and the audit trail.
        why: Why = field("why"),
        /// When the queue is open again by itself. A time of day is the next one in the time zone of the server.
        until: Until = field("until"),
    }
}

impl Form for ModeForm {
    const FILE: Option<File> = None;
    const QUEUE: Queue = QUICK;
    type Checked = ModeChange;

    fn check(self, _: &mut Vec<Violation>) -> Option<ModeChange> {
        Some(ModeChange { mode: self.mode?, why: self.why, until: self.until })
    }

    fn example() -> Option<serde_json::Value> {
        Some(json!({"mode": "paused", "why": "the disk is replaced", "until": "2h"}))
    }
}

/// All queues.
#[derive(Serialize, ToSchema)]
#[schema(as = AdminQueues)]
pub(crate) struct Queues {
    /// The queues.
    queues: Vec<QueueState>,
}

/// Responds with all queues.
#[utoipa::path(
    get,
    path = "/v1/admin/queues",
    operation_id = "admin-list-queues",
    tag = "admin",
    summary = "List the queues with their modes and jobs",
    responses((status = 200, description = "The queues.", body = Queues), ListProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn list(
    State(app): State<App>,
    _operator: Operator,
    _accepts: AcceptsJson,
    uri: Uri,
) -> Result<Response, Problem> {
    Problem::reject_if_any(query::unexpected(&uri))?;
    let queues = queues::list(&app.database.pool).await?;
    Ok(Json(Queues { queues }).into_response())
}

/// Sets the mode of a queue.
#[utoipa::path(
    put,
    path = "/v1/admin/queues/{queue}",
    operation_id = "admin-set-queue",
    tag = "admin",
    summary = "Pause, drain or resume a queue",
    description = "Needs the role `operate`. Workers follow within about a second. The mode `open` has no end, so `until` is ignored with it.",
    params(("queue" = String, Path, description = "`quick` or `speech`.")),
    responses((status = 204, description = "The queue has this mode."), ModeProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn set(
    State(app): State<App>,
    operator: Operator,
    Name(queue): Name,
    form: Checked<ModeForm>,
) -> Result<StatusCode, Problem> {
    let queue = queue_named(&queue).ok_or(Problem::of(ProblemType::NotFound))?;
    queues::set_mode(&app.database.pool, &operator.actor, queue, &form.fields).await?;
    Ok(StatusCode::NO_CONTENT)
}
