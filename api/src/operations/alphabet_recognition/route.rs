//! `POST /v1/models/alphabet-recognition`: recognises the letter in an image.

use akhar_client::PredictionsBody;
use akhar_requests::Parameters;
use axum::{extract::State, response::Response};
use utoipa::OpenApi;

use crate::{
    app::App,
    auth::caller::Caller,
    http::context::RequestContext,
    operations::{form::Checked, intake::Intake, run::run},
    problems::Problem,
};

pub(crate) use crate::operations::recognition::form::RecognitionForm as RequestForm;

/// The part of the OpenAPI document that is specific to this operation.
#[derive(OpenApi)]
#[openapi(paths(handle))]
pub(crate) struct Document;

/// Responds with the most likely of the 41 Panjabi letters.
#[utoipa::path(
    post,
    path = "/v1/models/alphabet-recognition",
    summary = "Recognise which of the 41 Panjabi letters an image shows",
    description = "The request contains an image of one letter. The response contains predictions with descending scores.",
    responses(
        (status = 200, description = "The predictions for the image.", body = PredictionsBody,
            example = json!({"predictions": [
                {"label": "ਸ", "score": 0.98}, {"label": "ਮ", "score": 0.015}, {"label": "ਅ", "score": 0.003}]})),
    ),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    context: RequestContext,
    form: Checked<RequestForm>,
) -> Result<Response, Problem> {
    let parameters = Parameters::AlphabetRecognition { top_k: form.fields };
    let intake = Intake { caller: &caller, context: &context, parameters, source: form.source };
    run(&app, intake).await
}
