//! `GET /v1/admin/models`: responds with the models that the workers serve.

use akhar_operators::workers::{self, ServedModel};
use axum::{
    Json,
    extract::State,
    http::Uri,
    response::{IntoResponse as _, Response},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::operator::Operator;
use crate::{
    app::App,
    http::context::AcceptsJson,
    input::{names::unknown, query},
    problems::{Problem, responses::problems},
};

problems! {
    /// The problems of listing models.
    ModelsProblems at "/v1/admin/models", [unknown("query parameter", "limit", &[])] => Unauthorized, OutOfScope, Forbidden, NotAcceptable,
    InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

/// The models that workers serve.
#[derive(Serialize, ToSchema)]
#[schema(as = AdminModels)]
pub(crate) struct Models {
    /// The models, by operation and language.
    models: Vec<ServedModel>,
}

/// Responds with the models.
#[utoipa::path(
    get,
    path = "/v1/admin/models",
    operation_id = "admin-list-models",
    tag = "admin",
    summary = "List the models that workers serve, with their versions",
    description = "Has each model for each operation and language that it serves, with the workers whose heartbeats come. While \
        workers have different models for the same, as in a rollout, these are marked as mixed.",
    responses((status = 200, description = "The models.", body = Models), ModelsProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn list(
    State(app): State<App>,
    _operator: Operator,
    _accepts: AcceptsJson,
    uri: Uri,
) -> Result<Response, Problem> {
    Problem::reject_if_any(query::unexpected(&uri))?;
    let models = workers::models(&app.database.pool).await?;
    Ok(Json(Models { models }).into_response())
}
