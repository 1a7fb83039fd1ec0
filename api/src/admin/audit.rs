//! `GET /v1/admin/audit`: responds with what operators changed.

use akhar_operators::{
    audit::{self, Action, AuditFilter, AuditRow},
    search::Text,
};
use akhar_platform::database::retry_transient;
use akhar_requests::Bounded;
use axum::{
    Json,
    extract::State,
    http::Uri,
    response::{IntoResponse as _, Response},
};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::operator::Operator;
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

/// A page of the audit trail.
#[derive(Serialize, ToSchema)]
#[schema(as = AdminAudit)]
pub(crate) struct Audit {
    /// The changes, the newest first.
    rows: Vec<AuditRow>,
    /// The value of `before` for the next page. Present only if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next: Option<Uuid>,
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
    responses((status = 200, description = "The changes.", body = Audit), AuditProblems),
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
    let db = app.database.lists();
    let mut rows = retry_transient(|_| audit::list(db, &filter, page::more(limit))).await?;
    let next = page::cut(&mut rows, limit, |row| row.id);
    Ok(Json(Audit { rows, next }).into_response())
}
