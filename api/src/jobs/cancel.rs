//! `DELETE /v1/jobs/{id}`: cancels a job that has not ended.

use akhar_client::JobBody;
use akhar_jobs::{
    JobState,
    store::{self, Guard},
};
use axum::{extract::State, http::Uri, response::Response};

use super::get::{JobPath, PATH, WaitQuery, find};
use crate::{
    app::App,
    auth::caller::Caller,
    http::context::RequestContext,
    http::representation::Representation,
    input::{fields::Fields as _, query},
    outcomes::{
        cancelled::{self, By},
        document,
    },
    problems::responses::problems,
    problems::{Problem, ProblemType},
    retry::retry_transient,
};

problems! {
    /// The problems of cancelling a job.
    JobCancelProblems at PATH, WaitQuery::violation() => Unauthorized, NotFound, NotAcceptable, JobNotCancellable, InvalidInput, QuotaExceeded, Internal, Busy,
    Draining, Unavailable,
}

/// Cancels a job of the caller that is queued or running, and responds with the job.
#[utoipa::path(
    delete,
    path = "/v1/jobs/{id}",
    operation_id = "cancel-job",
    tag = "jobs",
    summary = "Cancel a job that is queued or running",
    params(JobPath),
    responses(
        (status = 200, description = "The cancelled job.", body = JobBody,
            example = json!({"id": "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11", "operation": "digit-recognition",
                "state": "cancelled", "attempt": 0, "created_at": "2026-11-21T09:00:00Z", "started_at": null,
                "ended_at": "2026-11-21T09:00:01Z"})),
        JobCancelProblems,
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
    context.negotiate(Representation::JSON)?;
    Problem::reject_if_any(query::unexpected(&uri))?;
    let guard = Guard::Unended { job: id, account_id: caller.account_id };
    let mut is_uncertain = false;
    let cancelled = retry_transient(|n_failed| {
        is_uncertain |= n_failed > 0;
        store::cancel(&app.database.durable, guard)
    })
    .await?;
    let is_cancelled = cancelled.any();
    if is_cancelled {
        cancelled::report(&app.database.volatile, id, By::Request).await;
    }
    app.uploads.delete(cancelled.objects);
    let job = find(&app, &caller, id).await?;
    // An attempt whose connection was lost may have cancelled the job before it was retried.
    if is_cancelled || (is_uncertain && job.state == JobState::Cancelled) {
        return Ok(document::current(job, &context.request));
    }
    let detail = format!("The job has ended; its state is {}.", job.state.name());
    Err(Problem::of(ProblemType::JobNotCancellable).with_detail(detail))
}
