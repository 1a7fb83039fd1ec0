//! `GET /v1/admin/accounts`: responds with the accounts.

use akhar_operators::accounts::{self, Account};
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

/// A page of accounts.
#[derive(Serialize, ToSchema)]
#[schema(as = AdminAccounts)]
pub(crate) struct Accounts {
    /// The accounts, the newest first.
    accounts: Vec<Account>,
    /// The value of `before` for the next page. Present only if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    next: Option<Uuid>,
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
    responses((status = 200, description = "The accounts.", body = Accounts), AccountsProblems),
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
    let db = app.database.lists();
    let mut accounts = retry_transient(|_| accounts::page(db, before, page::more(limit))).await?;
    let next = page::cut(&mut accounts, limit, |account| account.id);
    Ok(Json(Accounts { accounts, next }).into_response())
}
