//! `POST /v1/models/translation`: translates a text.

use akhar_client::TranslationBody;
use akhar_requests::Parameters;
use axum::{extract::State, response::Response};
use utoipa::OpenApi;

use crate::{
    app::App,
    auth::caller::Caller,
    http::context::RequestContext,
    operations::{form::Checked, intake::Intake, run::run},
    problems::Problem,
};

pub(crate) use super::form::TranslationForm as RequestForm;

/// The part of the OpenAPI document that is specific to this operation.
#[derive(OpenApi)]
#[openapi(paths(handle))]
pub(crate) struct Document;

/// Responds with the translation of the text.
#[utoipa::path(
    post,
    path = "/v1/models/translation",
    summary = "Translate a text from Panjabi into English, or from English into Panjabi",
    description = "The request contains a text. The response contains its translation, with a line for each line of the text. \
        `Accept: text/plain` asks for the translation alone.",
    responses(
        (status = 200, description = "The translation.", content(
            (TranslationBody = "application/json",
                example = json!({"translation": "Hello", "language": "pa", "confidence": 0.913})),
            (String = "text/plain", example = "Hello"),
        )),
    ),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    context: RequestContext,
    form: Checked<RequestForm>,
) -> Result<Response, Problem> {
    let parameters = Parameters::Translation(form.fields);
    let intake = Intake { caller: &caller, context: &context, parameters, source: form.source };
    run(&app, intake).await
}
