//! `GET /v1/models`: responds with the models that the OpenAI-compatible routes accept.

use akhar_client::{ModelBody, ModelsBody};
use axum::{
    Json,
    http::Uri,
    response::{IntoResponse as _, Response},
};

use super::options::Model;
use crate::{
    auth::caller::Caller,
    http::context::AcceptsJson,
    input::{names::unknown, query},
    problems::{Problem, responses::problems},
};

problems! {
    /// The problems of listing models.
    ModelsProblems at "/v1/models", [unknown("query parameter", "limit", &[])] => Unauthorized, OutOfScope, NotAcceptable, InvalidInput, AccountBusy, Internal, Busy, Unavailable,
}

/// Responds with the models.
#[utoipa::path(
    get,
    path = "/v1/models",
    operation_id = "list-models",
    tag = "openai",
    summary = "List the models that `/v1/audio/` accepts",
    description = "`speech-pa` transcribes Panjabi and `speech-en` English. The others have the names that programs for \
        OpenAI's API use, and transcribe the language in `language`, by default Panjabi.",
    responses((status = 200, description = "The models.", body = ModelsBody), ModelsProblems),
    security(("bearer" = [])),
)]
pub(crate) async fn handle(_caller: Caller, _accepts: AcceptsJson, uri: Uri) -> Result<Response, Problem> {
    Problem::reject_if_any(query::unexpected(&uri))?;
    let data = Model::ALL.map(|model| body(model.id())).to_vec();
    Ok(Json(ModelsBody { object: "list".to_owned(), data }).into_response())
}

/// What a response has about a model.
pub(super) fn body(id: &str) -> ModelBody {
    ModelBody {
        id: id.to_owned(),
        object: "model".to_owned(),
        created: CREATED,
        owned_by: "akhar".to_owned(),
    }
}

/// When the first models of this service were made, seconds since 1970: 2026-11-21.
const CREATED: i64 = 1_795_219_200;
