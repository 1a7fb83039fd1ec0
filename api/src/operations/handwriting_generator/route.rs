//! `POST /v1/models/handwriting-generator`: writes Panjabi text by hand.

use akhar_client::{HandwritingBody, Png};
use akhar_requests::{HandwritingParameters, Parameters};
use axum::{extract::State, response::Response};
use utoipa::OpenApi;

use crate::{
    app::App,
    auth::caller::Caller,
    http::{context::RequestContext, representation::Representation},
    operations::{form::Checked, intake::Intake, run::run},
    problems::Problem,
};

pub(crate) use super::form::HandwritingForm as RequestForm;

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
        with the strokes and the PNG in base64. If it prefers `image/svg+xml`, the response is an SVG that looks like the \
        PNG, with a group of paths for each stroke.",
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
                (Png = "image/png"),
                (String = "image/svg+xml"),
            )),
    ),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    context: RequestContext,
    form: Checked<RequestForm>,
) -> Result<Response, Problem> {
    let parameters = Parameters::HandwritingGenerator(with_svg_if_preferred(form.fields, &context));
    let intake = Intake { caller: &caller, context: &context, parameters, source: form.source };
    run(&app, intake).await
}

/// Asks for an SVG too, if the caller prefers that to the other forms of a picture.
fn with_svg_if_preferred(
    mut fields: HandwritingParameters,
    context: &RequestContext,
) -> HandwritingParameters {
    let preferred = context.negotiate(Representation::PICTURE_AND_SVG);
    if let Some(picture) = &mut fields.picture {
        picture.with_svg = preferred.is_ok_and(|representation| representation == Representation::Svg);
    }
    fields
}
