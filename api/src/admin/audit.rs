//! `GET /v1/admin/audit`: responds with what operators changed.

use akhar_accounts::{Action, audit::AuditFilter};
use akhar_client::AdminAuditBody;
use akhar_jobs::Bounded;
use axum::{
    Json,
    extract::State,
    http::Uri,
    response::{IntoResponse as _, Response},
};
use uuid::Uuid;

use super::{documents, operator::Operator, values::Text};
use crate::{
    app::App,
    http::context::AcceptsJson,
    input::{
        field::field,
        fields::{Fields as _, fields},
        query,
    },
    page,
    problems::{Problem, responses::problems},
    retry::retry_transient,
};

problems! {
    /// The problems of reading the audit trail.
    AuditProblems at "/v1/admin/audit", AuditQuery::violation() => Unauthorized, OutOfScope, Forbidden, NotAcceptable, InvalidInput, QuotaExceeded,
    AccountBusy, Internal, Busy, Unavailable,
}

fields! {
    /// The parameters of the list.
    AuditQuery {
        /// Only this action.
        action: Action = field("action"),
        /// Only what this one did: the name or prefix of a key, or user@machine of a command.
        actor: Text = field("actor"),
        /// Only changes before this one.
        before: Uuid = field("before"),
        /// The most changes in the response. The default is 20.
        limit: Bounded<u8, 1, 100> = field("limit").wrong("101"),
    }
}

/// Responds with a page of the audit trail.
#[utoipa::path(
    get,
    path = "/v1/admin/audit",
    operation_id = "admin-list-audit",
    tag = "admin",
    summary = "List what operators changed, newest first",
    description = "Has each change of the last 90 days by an operator: through this interface, on the operations page or with a command.",
    params(AuditQuery),
    responses((status = 200, description = "The changes.", body = AdminAuditBody), AuditProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn list(
    State(app): State<App>,
    _operator: Operator,
    _accepts: AcceptsJson,
    uri: Uri,
) -> Result<Response, Problem> {
    let AuditQuery { action, actor, before, limit } = query::parse(&uri)?;
    let filter = AuditFilter { action, actor: actor.map(|actor| actor.0), before };
    let limit = page::limit(limit);
    let body = retry_transient(|_| documents::audit(app.database.lists(), &filter, limit)).await?;
    Ok(Json(body).into_response())
}
