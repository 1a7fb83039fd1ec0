//! `POST /v1/models/handwriting-generator`: Panjabi text comes in, the strokes of a pen or a picture go out.

use akhar_jobs::Parameters;
use axum::{extract::State, response::Response};

use super::{
    body::{HandwritingBody, PngSchema},
    form::HandwritingForm,
    schema::HandwritingFormSchema,
};
use crate::{
    app::App, auth::caller::Caller, http::context::Terms, jobs::body::JobBody, operations::run::perform,
    problems::Problem, problems::responses::HandwritingProblems,
};

/// Panjabi text as handwriting.
#[utoipa::path(
    post,
    path = "/v1/models/handwriting-generator",
    operation_id = "handwriting-generator",
    tag = "models",
    summary = "Panjabi text as handwriting: strokes, or a picture",
    description = "Send text; get the strokes of a pen that writes it. With `with-image` get a PNG, or, where the \
        `Accept` header prefers `application/json`, a document of the strokes and the picture in base64. The response \
        is held until the job ends; past the wait limit, or as `Prefer` asks, it is a 202 that says where the job is.",
    params(
        ("Prefer" = Option<String>, Header, description = "`respond-async`: answer 202 at once. `wait=N`: hold the \
            response for at most N seconds.", example = "wait=5"),
        ("X-Request-Id" = Option<String>, Header, description = "1 to 128 visible ASCII characters; echoed, and in \
            every log line about the request."),
        ("traceparent" = Option<String>, Header, description = "W3C trace context."),
    ),
    request_body(
        content = HandwritingFormSchema,
        content_type = "application/json",
        examples(
            ("strokes" = (summary = "The strokes of a greeting", value = json!({"text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"}))),
            ("picture" = (summary = "A narrow page in blue ink", value = json!({"text": "ਪੰਜਾਬੀ ਵਿੱਚ ਲਿਖੋ।",
                "page-width": 300, "with-image": true, "stroke-color": "blue", "stroke-width": 3}))),
        ),
    ),
    responses(
        (status = 200, description = "The text as handwriting.",
            headers(
                ("Server-Timing" = String, description = "`queue`, `decode` and `infer`, in milliseconds."),
                ("X-Request-Id" = String, description = "The request's id."),
            ),
            content(
                (HandwritingBody = "application/json", examples(
                    ("strokes" = (summary = "Without `with-image`", value = json!({"points": {
                        "x": [[24.5, 24.9, 25.6], [20.0, 61.25]], "y": [[48.0, 52.4, 57.1], [47.5, 47.8]]}}))),
                    ("picture" = (summary = "With `with-image`, where `Accept` prefers it", value = json!({"points": {
                        "x": [[24.5, 24.9, 25.6], [20.0, 61.25]], "y": [[48.0, 52.4, 57.1], [47.5, 47.8]]},
                        "image": "iVBORw0KGgo="}))),
                )),
                (PngSchema = "image/png"),
            )),
        (status = 202, description = "Accepted, and not finished when the wait was over.", body = JobBody,
            headers(
                ("Location" = String, description = "The job's address."),
                ("Retry-After" = u32, description = "Seconds until asking makes sense."),
                ("Preference-Applied" = String, description = "What of `Prefer` was honoured."),
            ),
            example = json!({"id": "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11", "operation": "handwriting-generator",
                "state": "queued", "attempt": 0, "created_at": "2026-11-21T09:00:00Z", "started_at": null,
                "ended_at": null})),
        HandwritingProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    terms: Terms,
    HandwritingForm(handwriting): HandwritingForm,
) -> Result<Response, Problem> {
    perform(&app, &caller, &terms, Parameters::HandwritingGenerator(handwriting), None).await
}
