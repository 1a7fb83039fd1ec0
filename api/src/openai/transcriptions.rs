//! `POST /v1/audio/transcriptions`: transcribes a recording, as OpenAI's API does.

use akhar_client::{AudioEventBody, AudioTextBody, VerboseAudioTextBody};
use akhar_jobs::Parameters;
use axum::{extract::State, response::Response};
use utoipa::{OpenApi, ToSchema};

use super::{form::TranscriptionForm, response::View, schema::TranscriptionFormSchema, stream};
use crate::{
    app::App,
    auth::caller::Caller,
    http::context::RequestContext,
    operations::{intake::Intake, run::run_and_render},
    problems::Problem,
};

/// The part of the OpenAPI document that is specific to this route.
#[derive(OpenApi)]
#[openapi(paths(handle))]
pub(crate) struct Document;

/// The JSON bodies of both routes.
#[derive(ToSchema)]
#[schema(as = AudioResult)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes the response to the OpenAPI document")]
pub(super) enum AudioResultSchema {
    /// For `verbose_json`.
    Verbose(VerboseAudioTextBody),
    /// For `json`.
    Text(AudioTextBody),
}

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
    request_body(
        content = TranscriptionFormSchema,
        content_type = "multipart/form-data",
        encoding(("file" = (content_type = "audio/mpeg, audio/wav"))),
    ),
    responses((status = 200, description = "The text of the recording.", content(
        (AudioResultSchema = "application/json", example = json!({
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
    form: TranscriptionForm,
) -> Result<Response, Problem> {
    let TranscriptionForm { upload, speech, format, granularities, is_streamed } = form;
    let language = speech.lang;
    let parameters = Parameters::SpeechRecognition(speech);
    let intake = Intake { caller: &caller, context: &context, parameters, upload: Some(upload) };
    if is_streamed {
        return stream::respond(&app, intake).await;
    }
    let view = View { format, granularities, language, is_translation: false };
    run_and_render(&app, intake, |job, total| view.render(job, total)).await
}
