//! `GET /v1/admin/accounts`: responds with the accounts.

use akhar_client::AdminAccountsBody;
use akhar_jobs::Bounded;
use axum::{
    Json,
    extract::State,
    http::Uri,
    response::{IntoResponse as _, Response},
};
use uuid::Uuid;

use super::{documents, operator::Operator};
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
    /// The problems of listing accounts.
    AccountsProblems at "/v1/admin/accounts", AccountsQuery::violation() => Unauthorized, OutOfScope, Forbidden, NotAcceptable, InvalidInput,
    QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

fields! {
    /// The parameters of the list.
    AccountsQuery {
        /// Only accounts that were made before this one.
        before: Uuid = field("before"),
        /// The most accounts in the response. The default is 20.
        limit: Bounded<u8, 1, 100> = field("limit").wrong("101"),
    }
}

/// Responds with a page of accounts.
#[utoipa::path(
    get,
    path = "/v1/admin/accounts",
    operation_id = "admin-list-accounts",
    tag = "admin",
    summary = "List all accounts, newest first",
    description = "Lists the accounts with their quotas, the number of their keys that work, and their jobs that have not ended.",
    params(AccountsQuery),
    responses((status = 200, description = "The accounts.", body = AdminAccountsBody), AccountsProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn list(
    State(app): State<App>,
    _operator: Operator,
    _accepts: AcceptsJson,
    uri: Uri,
) -> Result<Response, Problem> {
    let AccountsQuery { before, limit } = query::parse(&uri)?;
    let limit = page::limit(limit);
    let body = retry_transient(|_| documents::accounts(app.database.lists(), before, limit)).await?;
    Ok(Json(body).into_response())
}
