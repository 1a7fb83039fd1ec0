//! `GET /v1/models/{id}`: responds with a model that the OpenAI-compatible routes accept.

use axum::{
    Json,
    extract::Path,
    http::Uri,
    response::{IntoResponse as _, Response},
};

use super::{models, options::Model};
use crate::{
    auth::caller::Caller,
    http::context::AcceptsJson,
    input::{
        names::{quoted, unknown},
        query,
        value::Value as _,
    },
    problems::{Problem, ProblemType, responses::problems},
};

problems! {
    /// The problems of getting a model.
    ModelProblems at "/v1/models/llama-3", [unknown("query parameter", "limit", &[])] => Unauthorized, OutOfScope, NotFound, NotAcceptable, InvalidInput, AccountBusy, Internal, Busy, Unavailable,
}

/// Responds with the model.
#[utoipa::path(
    get,
    path = "/v1/models/{id}",
    operation_id = "get-model",
    tag = "openai",
    summary = "Get a model that `/v1/audio/` accepts",
    params(("id" = String, Path, description = "The model's name.", example = "speech-pa")),
    responses((status = 200, description = "The model.", body = akhar_client::ModelBody), ModelProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn handle(
    _caller: Caller,
    _accepts: AcceptsJson,
    uri: Uri,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    Problem::reject_if_any(query::unexpected(&uri))?;
    Model::parse(&id).map_err(|_| {
        let detail = format!("There is no model {}: expected {}.", quoted(&id), Model::rule().expected);
        Problem::of(ProblemType::NotFound).with_detail(detail)
    })?;
    Ok(Json(models::body(&id)).into_response())
}
