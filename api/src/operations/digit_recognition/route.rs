//! `POST /v1/models/digit-recognition`: an image of a digit comes in, ranked predictions go out.

use akhar_client::PredictionsBody;
use akhar_jobs::Parameters;
use axum::{extract::State, response::Response};
use utoipa::OpenApi;

use crate::{
    app::App,
    auth::caller::Caller,
    http::context::RequestContext,
    operations::{
        recognition::form::{RecognitionForm, RecognitionFormSchema},
        run::run,
    },
    problems::Problem,
};

pub(crate) use crate::operations::recognition::form::EXAMPLES;

/// This operation's own part of the OpenAPI document.
#[derive(OpenApi)]
#[openapi(paths(handle))]
pub(crate) struct Document;

/// Which of the ten Panjabi digits an image shows.
#[utoipa::path(
    post,
    path = "/v1/models/digit-recognition",
    summary = "Which of the ten Panjabi digits an image shows",
    description = "Send one image of one digit; get predictions by falling score.",
    request_body(
        content = RecognitionFormSchema,
        content_type = "multipart/form-data",
        encoding(("file" = (content_type = "image/png, image/jpeg"))),
    ),
    responses(
        (status = 200, description = "What the image shows.", body = PredictionsBody,
            example = json!({"predictions": [
                {"label": "੫", "score": 0.98}, {"label": "੬", "score": 0.015}, {"label": "੧", "score": 0.003}]})),
    ),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    context: RequestContext,
    form: RecognitionForm,
) -> Result<Response, Problem> {
    let parameters = Parameters::DigitRecognition { top_k: form.top_k };
    run(&app, &caller, &context, parameters, Some(form.upload)).await
}
