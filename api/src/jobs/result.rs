//! `GET /v1/jobs/{id}/result`: a job's id comes in, its operation's own response goes out.

use akhar_client::JobResultBody;
use axum::{extract::State, http::Uri, response::Response};

use super::{
    documentation::{EXAMPLES, PATH},
    get::{JobPath, find},
};
use crate::{
    app::App,
    auth::caller::Caller,
    http::context::RequestContext,
    input::query,
    operations::{handwriting_generator::schema::PngSchema, response},
    problems::{Problem, responses::problems},
};

problems! {
    /// What can go wrong with asking for a job's result.
    JobResultProblems at PATH, EXAMPLES: Unauthorized, NotFound, NotAcceptable, JobNotFinished, JobCancelled, InvalidInput,
    Internal, JobFailed, Busy, Draining, Unavailable,
}

/// The result of a job.
#[utoipa::path(
    get,
    path = "/v1/jobs/{id}/result",
    operation_id = "get-job-result",
    tag = "jobs",
    summary = "The result of a job: its operation's own response, or the problem it ended in",
    params(JobPath),
    responses(
        (status = 200, description = "The operation's own response. If it has a picture, `Accept` decides between \
            the picture and a document, as it does there.",
            headers(("Server-Timing" = String, description = "`queue`, `decode` and `infer`, in milliseconds.")),
            content(
                (JobResultBody = "application/json", example = json!({"predictions": [{"label": "੫", "score": 0.98}]})),
                (PngSchema = "image/png"),
            )),
        JobResultProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    context: RequestContext,
    JobPath(id): JobPath,
    uri: Uri,
) -> Result<Response, Problem> {
    Problem::unless_none(query::none(&uri))?;
    let job = find(&app, &caller, id).await?;
    let lifetime = response::lifetime(&job);
    response::result(job, lifetime, &context)
}
