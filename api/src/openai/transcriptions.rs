//! `POST /v1/audio/transcriptions`: transcribes a recording, as OpenAI's API does.

use akhar_client::{AudioEventBody, AudioResultBody};
use akhar_requests::Parameters;
use axum::{extract::State, response::Response};
use utoipa::OpenApi;

use super::{form::AudioTranscriptionForm, stream};
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

/// Responds with the text of the recording.
#[utoipa::path(
    post,
    path = "/v1/audio/transcriptions",
    operation_id = "create-transcription",
    summary = "Transcribe a recording, as OpenAI's audio API does",
    description = "For programs that use OpenAI's API: `response_format` decides the media type of the response, and the \
        `Accept` header is not read. Problems have the member `error` too. A recording may be larger than in \
        `/v1/models/speech-recognition`, and have other formats. With `stream=true` \
        the response is a stream of events: the text as it is recognised.",
    responses((status = 200, description = "The text of the recording.", content(
        (AudioResultBody = "application/json", example = json!({
            "text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", "usage": {"type": "duration", "seconds": 1.5}})),
        (String = "text/plain", example = "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n"),
        (String = "application/x-subrip", example = "1\n00:00:00,240 --> 00:00:01,360\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n\n"),
        (AudioEventBody = "text/event-stream"),
        (String = "text/vtt", example = "WEBVTT\n\n00:00:00.240 --> 00:00:01.360\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n"),
    ))),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    context: RequestContext,
    form: Checked<AudioTranscriptionForm>,
) -> Result<Response, Problem> {
    let Checked { fields: (view, is_streamed), source } = form;
    let parameters = Parameters::SpeechRecognition(view.speech.clone());
    let intake = Intake { caller: &caller, context: &context, parameters, source };
    if is_streamed {
        return stream::respond(&app, intake, view).await;
    }
    run_and_render(&app, intake, |job, total| view.render(job, total)).await
}
