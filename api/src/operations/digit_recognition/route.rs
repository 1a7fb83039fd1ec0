//! `POST /v1/models/digit-recognition`: an image of a digit comes in, ranked guesses go out.

use akhar_jobs::Parameters;
use axum::{extract::State, response::Response};

use crate::{
    app::App,
    auth::caller::Caller,
    http::context::Terms,
    jobs::body::JobBody,
    operations::recognition::{
        body::PredictionsBody,
        form::{RecognitionForm, RecognitionFormSchema},
    },
    operations::run::perform,
    problems::Problem,
    problems::responses::RecognitionProblems,
};

/// Which of the ten Panjabi digits an image shows.
#[utoipa::path(
    post,
    path = "/v1/models/digit-recognition",
    operation_id = "digit-recognition",
    tag = "models",
    summary = "Which of the ten Panjabi digits an image shows",
    description = "Send one image of one digit; get guesses by falling score. The response is held until the job \
        ends; past the wait limit, or as `Prefer` asks, it is a 202 that says where the job is.",
    params(
        ("Prefer" = Option<String>, Header, description = "`respond-async`: answer 202 at once. `wait=N`: hold the \
            response for at most N seconds.", example = "wait=5"),
        ("X-Request-Id" = Option<String>, Header, description = "1 to 128 visible ASCII characters; echoed, and in \
            every log line about the request."),
        ("traceparent" = Option<String>, Header, description = "W3C trace context."),
    ),
    request_body(
        content = RecognitionFormSchema,
        content_type = "multipart/form-data",
        encoding(("file" = (content_type = "image/png, image/jpeg"))),
    ),
    responses(
        (status = 200, description = "What the image shows.", body = PredictionsBody,
            headers(
                ("Server-Timing" = String, description = "`queue`, `decode` and `infer`, in milliseconds."),
                ("X-Request-Id" = String, description = "The request's id."),
            ),
            example = json!({"predictions": [
                {"label": "੫", "score": 0.98}, {"label": "੬", "score": 0.015}, {"label": "੧", "score": 0.003}]})),
        (status = 202, description = "Accepted, and not finished when the wait was over.", body = JobBody,
            headers(
                ("Location" = String, description = "The job's address."),
                ("Retry-After" = u32, description = "Seconds until asking makes sense."),
                ("Preference-Applied" = String, description = "What of `Prefer` was honoured."),
            ),
            example = json!({"id": "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11", "operation": "digit-recognition",
                "state": "queued", "attempt": 0, "created_at": "2026-11-21T09:00:00Z", "started_at": null,
                "ended_at": null})),
        RecognitionProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    terms: Terms,
    form: RecognitionForm,
) -> Result<Response, Problem> {
    let parameters = Parameters::DigitRecognition { top_k: form.top_k };
    perform(&app, &caller, &terms, parameters, Some(form.upload)).await
}
