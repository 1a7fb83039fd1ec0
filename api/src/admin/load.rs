//! `/v1/admin/load`: what happens in the queues now, and the workers. It reads a limited number of rows, so that programs can ask
//! for it every second.

use akhar_operators::overview::{self, Load};
use axum::{
    Json,
    extract::State,
    http::Uri,
    response::{IntoResponse as _, Response},
};

use super::operator::Operator;
use crate::{
    app::App,
    http::context::AcceptsJson,
    input::{names::unknown, query},
    problems::{Problem, responses::problems},
};

problems! {
    /// The problems of reading the load.
    LoadProblems at "/v1/admin/load", [unknown("query parameter", "limit", &[])] => Unauthorized, OutOfScope, Forbidden, NotAcceptable,
    InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

/// Responds with the load.
#[utoipa::path(
    get,
    path = "/v1/admin/load",
    operation_id = "admin-load",
    tag = "admin",
    summary = "Show what happens in the queues now, and the workers",
    description = "Reads a limited number of rows however many jobs there are, so a program may ask for it every second.",
    responses((status = 200, description = "The load.", body = Load), LoadProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn show(
    State(app): State<App>,
    _operator: Operator,
    _accepts: AcceptsJson,
    uri: Uri,
) -> Result<Response, Problem> {
    Problem::reject_if_any(query::unexpected(&uri))?;
    Ok(Json(overview::load(&app.database.pool).await?).into_response())
}
