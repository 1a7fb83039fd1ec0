//! `GET /v1/jobs/{id}/result`: a job's id comes in, its operation's own response goes out.

use axum::{extract::State, http::Uri, response::Response};

use super::get::{JobPath, find};
use crate::{
    app::App,
    auth::caller::Caller,
    http::context::Terms,
    input::query,
    operations::{
        answer::{self, ResultBody},
        handwriting_generator::body::PngSchema,
    },
    problems::Problem,
    problems::responses::JobResultProblems,
};

/// What a job came to.
#[utoipa::path(
    get,
    path = "/v1/jobs/{id}/result",
    operation_id = "get-job-result",
    tag = "jobs",
    summary = "What a job came to: its operation's own response, or the problem it ended in",
    params(("id" = uuid::Uuid, Path, description = "The job's id.")),
    responses(
        (status = 200, description = "The operation's own response. Where that is a picture, `Accept` decides between \
            it and a document, as it does there.",
            headers(("Server-Timing" = String, description = "`queue`, `decode` and `infer`, in milliseconds.")),
            content(
                (ResultBody = "application/json", example = json!({"predictions": [{"label": "੫", "score": 0.98}]})),
                (PngSchema = "image/png"),
            )),
        JobResultProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    terms: Terms,
    JobPath(id): JobPath,
    uri: Uri,
) -> Result<Response, Problem> {
    Problem::unless_none(query::none(&uri))?;
    let job = find(&app, &caller, id).await?;
    let lifetime = answer::lifetime(&job);
    answer::result(job, lifetime, &terms)
}
