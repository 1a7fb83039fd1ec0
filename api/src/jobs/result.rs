//! `GET /v1/jobs/{id}/result`: responds with the result of a job, as its operation would.

use akhar_client::{JobResultBody, Png};
use axum::{extract::State, http::Uri, response::Response};

use super::get::{JobPath, PATH, WaitQuery, find};
use crate::{
    app::App,
    auth::caller::Caller,
    http::context::RequestContext,
    input::{fields::Fields as _, query},
    outcomes::response,
    problems::{Problem, responses::problems},
};

problems! {
    /// The problems of getting a job's result.
    JobResultProblems at PATH, WaitQuery::violation() => Unauthorized, OutOfScope, NotFound, NotAcceptable, JobNotFinished, JobCancelled, JobDeleted, InvalidInput, QuotaExceeded,
    AccountBusy, Internal, JobFailed, Busy, Unavailable,
}

/// Responds with the result of a job, or with the problem that the job ended with.
#[utoipa::path(
    get,
    path = "/v1/jobs/{id}/result",
    operation_id = "get-job-result",
    tag = "jobs",
    summary = "Get the result of a job: the operation's response, or the problem that the job ended with",
    params(JobPath),
    responses(
        (status = 200, description = "The operation's response. `Accept` chooses its media type, as in the operation.",
            headers(
                ("Akhar-Pages" = u16, description = "The number of pages of handwriting."),
                ("Akhar-Warnings" = String, description = "The warnings about a recording, as in the operation."),
                ("Server-Timing" = String, description = "The durations `queue`, `decode` and `infer` in milliseconds."),
            ),
            content(
                (JobResultBody = "application/json", example = json!({"predictions": [{"label": "੫", "score": 0.98}]})),
                (Png = "image/png"),
                (String = "image/svg+xml"),
                (String = "text/plain", example = "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"),
                (String = "application/x-subrip", example = "1\n00:00:00,240 --> 00:00:01,360\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n\n"),
                (String = "text/vtt", example = "WEBVTT\n\n00:00:00.240 --> 00:00:01.360\nਸਤਿ ਸ੍ਰੀ ਅਕਾਲ\n"),
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
    Problem::reject_if_any(query::unexpected(&uri))?;
    let job = find(&app, &caller, id).await?;
    let lifetime = response::lifetime(&job);
    app.deliveries.respond(job, |job| response::result(job, lifetime, &context))
}
