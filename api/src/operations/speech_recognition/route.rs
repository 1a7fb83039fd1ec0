//! `POST /v1/models/speech-recognition`: a recording comes in, what it says goes out.

use akhar_jobs::Parameters;
use axum::{extract::State, response::Response};

use super::{
    body::TranscriptionBody,
    form::{SpeechForm, SpeechFormSchema},
};
use crate::{
    app::App, auth::caller::Caller, http::context::Terms, jobs::body::JobBody, operations::run::perform,
    problems::Problem, problems::responses::SpeechProblems,
};

/// What a recording says.
#[utoipa::path(
    post,
    path = "/v1/models/speech-recognition",
    operation_id = "speech-recognition",
    tag = "models",
    summary = "What a recording says, in Panjabi or English, and in the other of the two",
    description = "Send a recording; get its text, with `with-translation` also in the other language, and with \
        `with-timestamps` when each segment of it is said, in seconds. Silence has the text \"\". The response is held until the job ends; past the wait limit, or as \
        `Prefer` asks, it is a 202 that says where the job is.",
    params(
        ("Prefer" = Option<String>, Header, description = "`respond-async`: answer 202 at once. `wait=N`: hold the \
            response for at most N seconds.", example = "wait=5"),
        ("X-Request-Id" = Option<String>, Header, description = "1 to 128 visible ASCII characters; echoed, and in \
            every log line about the request."),
        ("traceparent" = Option<String>, Header, description = "W3C trace context."),
    ),
    request_body(
        content = SpeechFormSchema,
        content_type = "multipart/form-data",
        encoding(("file" = (content_type = "audio/mpeg, audio/wav"))),
    ),
    responses(
        (status = 200, description = "What the recording says.", body = TranscriptionBody,
            headers(
                ("Server-Timing" = String, description = "`queue`, `decode` and `infer`, in milliseconds."),
                ("X-Request-Id" = String, description = "The request's id."),
            ),
            example = json!({"transcription": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", "translation": "Hello", "timestamps": [
                {"start": 0.24, "end": 1.36, "transcription": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", "translation": "Hello"}]})),
        (status = 202, description = "Accepted, and not finished when the wait was over.", body = JobBody,
            headers(
                ("Location" = String, description = "The job's address."),
                ("Retry-After" = u32, description = "Seconds until asking makes sense."),
                ("Preference-Applied" = String, description = "What of `Prefer` was honoured."),
            ),
            example = json!({"id": "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11", "operation": "speech-recognition",
                "state": "queued", "attempt": 0, "created_at": "2026-11-21T09:00:00Z", "started_at": null,
                "ended_at": null})),
        SpeechProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    terms: Terms,
    form: SpeechForm,
) -> Result<Response, Problem> {
    let parameters = Parameters::SpeechRecognition(form.speech);
    perform(&app, &caller, &terms, parameters, Some(form.upload)).await
}
