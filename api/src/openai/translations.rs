//! `POST /v1/audio/translations`: translates a recording into English, as OpenAI's API does.

use akhar_client::AudioResultBody;
use akhar_requests::Parameters;
use axum::{extract::State, response::Response};
use utoipa::OpenApi;

use super::form::AudioTranslationForm;
use crate::{
    app::App,
    auth::caller::Caller,
    http::context::RequestContext,
    operations::{form::Checked, intake::Intake, run::run_and_render},
    problems::Problem,
};

/// The part of the OpenAPI document that is specific to this route.
#[derive(OpenApi)]
#[openapi(paths(handle))]
pub(crate) struct Document;

/// Responds with the English translation of the recording's text.
#[utoipa::path(
    post,
    path = "/v1/audio/translations",
    operation_id = "create-translation",
    summary = "Translate a recording in Panjabi into English, as OpenAI's audio API does",
    description = "For programs that use OpenAI's API, as `/v1/audio/transcriptions`. The language is detected, and the text of \
                   a recording in English is returned as it is.",
    responses((status = 200, description = "The translation.", content(
        (AudioResultBody = "application/json", example = json!({
            "text": "Hello", "usage": {"type": "duration", "seconds": 1.5}})),
        (String = "text/plain", example = "Hello\n"),
        (String = "application/x-subrip", example = "1\n00:00:00,240 --> 00:00:01,360\nHello\n\n"),
        (String = "text/vtt", example = "WEBVTT\n\n00:00:00.240 --> 00:00:01.360\nHello\n"),
    ))),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    context: RequestContext,
    form: Checked<AudioTranslationForm>,
) -> Result<Response, Problem> {
    let Checked { fields: view, source } = form;
    let parameters = Parameters::SpeechRecognition(view.speech.clone());
    let intake = Intake { caller: &caller, context: &context, parameters, source };
    run_and_render(&app, intake, |job, total| view.render(job, total)).await
}
