//! `POST /v1/models/handwriting-generator`: Panjabi text comes in, the strokes of a pen or a picture go out.

use akhar_client::HandwritingBody;
use akhar_jobs::Parameters;
use axum::{extract::State, response::Response};
use utoipa::OpenApi;

use super::{
    form::HandwritingForm,
    schema::{HandwritingFormSchema, PngSchema},
};
use crate::{
    app::App,
    auth::caller::Caller,
    http::context::RequestContext,
    operations::run::run,
    problems::{Code, Problem, responses::Examples},
};

/// What the examples of its problems say.
pub(crate) const EXAMPLES: Examples = Examples {
    file: None,
    invalid: ("line-space", Code::OutOfRange, "line-space is 119.5, expected a number from 120 to 150"),
};

/// This operation's own part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(handle))]
pub(crate) struct Document;

/// Panjabi text as handwriting.
#[utoipa::path(
    post,
    path = "/v1/models/handwriting-generator",
    summary = "Panjabi text as handwriting: strokes, or a picture",
    description = "Send text; get the strokes of a pen that writes it. With `with-image` get a PNG, or, where the \
        `Accept` header prefers `application/json`, a document of the strokes and the picture in base64.",
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
    ),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    context: RequestContext,
    HandwritingForm(handwriting): HandwritingForm,
) -> Result<Response, Problem> {
    run(&app, &caller, &context, Parameters::HandwritingGenerator(handwriting), None).await
}
