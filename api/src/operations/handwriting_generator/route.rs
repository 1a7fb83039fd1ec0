//! `POST /v1/models/handwriting-generator`: writes Panjabi text by hand.

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
    operations::{intake::Intake, run::run},
    problems::{Code, Problem, responses::Examples},
};

/// The details in the examples of problems.
pub(crate) const EXAMPLES: Examples = Examples {
    file: None,
    invalid: ("line-space", Code::OutOfRange, "line-space is 119.5, expected a number from 120 to 150"),
};

/// The part of the OpenAPI document that is specific to this operation.
#[derive(OpenApi)]
#[openapi(paths(handle))]
pub(crate) struct Document;

/// Responds with the text as strokes, or as a picture.
#[utoipa::path(
    post,
    path = "/v1/models/handwriting-generator",
    summary = "Write Panjabi text by hand, as strokes or as a picture",
    description = "The request contains a text. The response contains the strokes of a pen that writes it. If `with-image` is true, \
        the response is a PNG. If the `Accept` header then prefers `application/json`, the response is a JSON document \
        with the strokes and the PNG in base64.",
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
        (status = 200, description = "The handwriting.",
            content(
                (HandwritingBody = "application/json", examples(
                    ("strokes" = (summary = "Without `with-image`", value = json!({"points": {
                        "x": [[24.5, 24.9, 25.6], [20.0, 61.25]], "y": [[48.0, 52.4, 57.1], [47.5, 47.8]]}}))),
                    ("picture" = (summary = "With `with-image`, if `Accept` prefers JSON", value = json!({"points": {
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
    let parameters = Parameters::HandwritingGenerator(handwriting);
    let intake = Intake { caller: &caller, context: &context, parameters, upload: None };
    run(&app, intake).await
}
