//! `POST /v1/models/speech-recognition`: transcribes a recording.

use akhar_client::TranscriptionBody;
use akhar_requests::{Digits, Parameters};
use axum::{extract::State, response::Response};
use utoipa::OpenApi;

use crate::{
    app::App,
    auth::caller::Caller,
    http::{context::RequestContext, representation::Representation},
    operations::{form::Checked, intake::Intake, run::run},
    problems::Problem,
};

pub(crate) use super::form::SpeechForm as RequestForm;

/// The part of the OpenAPI document that is specific to this operation.
#[derive(OpenApi)]
#[openapi(paths(handle))]
pub(crate) struct Document;

/// Responds with the text of the recording.
#[utoipa::path(
    post,
    path = "/v1/models/speech-recognition",
    summary = "Transcribe a recording in Panjabi or English, and translate it into the other language",
    description = "The request contains a recording. The response contains its text. If `with-translation` is true, the \
        response also contains the text in the other language. If `with-timestamps` is true, it contains the start and \
        end of each segment in seconds. The text of a recording without speech is \"\". `Accept: text/plain` asks for the \
        text alone: the transcription, and after a blank line the translation if there is one. If `with-timestamps` is true, \
        `Accept: application/x-subrip` or `text/vtt` asks for subtitles: cues of at most two lines of 42 characters, which end \
        where a phrase does, and stay until they can be read. A translation stands below what it translates.",
    responses(
        (status = 200, description = "The text of the recording.", content(
            (TranscriptionBody = "application/json", example = json!({
                "transcription": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", "translation": "Hello", "timestamps": [
                    {"start": 0.24, "end": 1.36, "transcription": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", "translation": "Hello"}]})),
            (String = "text/plain", example = "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"),
            (String = "application/x-subrip", example = "1\n00:00:00,240 --> 00:00:01,360\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n\n"),
            (String = "text/vtt", example = "WEBVTT\n\n00:00:00.240 --> 00:00:01.360\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n"),
        )),
    ),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    context: RequestContext,
    form: Checked<RequestForm>,
) -> Result<Response, Problem> {
    let (mut parameters, is_form_given) = form.fields;
    if matches!(context.negotiate(Representation::SEGMENTS), Ok(Representation::Srt | Representation::Vtt))
        && parameters.with_timestamps
    {
        // Cues break between words, and are read with a glance.
        parameters.with_words = true;
        parameters.written = parameters.written.or((!is_form_given).then_some(Digits::Latin));
    }
    let parameters = Parameters::SpeechRecognition(parameters);
    let intake = Intake { caller: &caller, context: &context, parameters, source: form.source };
    run(&app, intake).await
}
