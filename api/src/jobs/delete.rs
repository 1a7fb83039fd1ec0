//! `DELETE /v1/jobs/{id}`: cancels a job that has not ended, and deletes one that has.

use akhar_client::JobBody;
use akhar_jobs::{
    JobId, JobState,
    store::{self, Guard},
};
use akhar_platform::database::retry_transient;
use akhar_requests::Job;
use axum::{
    extract::State,
    http::{StatusCode, Uri},
    response::{IntoResponse as _, Response},
};

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
    problems::Problem,
    problems::responses::problems,
};

problems! {
    /// The problems of cancelling or deleting a job.
    JobDeleteProblems at PATH, WaitQuery::violation() => Unauthorized, OutOfScope, NotFound, NotAcceptable, InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

/// Cancels a job of the caller that is queued or running, and responds with the job. Deletes a job that has ended.
#[utoipa::path(
    delete,
    path = "/v1/jobs/{id}",
    operation_id = "delete-job",
    tag = "jobs",
    summary = "Cancel a job that is queued or running, or delete one that has ended",
    description = "A job that is queued or running is cancelled. A job that has ended is deleted: its document and its result, a \
        webhook that was not delivered yet, and the Idempotency-Key of its request. Of a deleted job only the times are kept, \
        as long as the job would have been. So to delete a job that has not ended, send the request twice.",
    params(JobPath),
    responses(
        (status = 200, description = "The job was cancelled.", body = JobBody,
            example = json!({"id": "019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11", "operation": "digit-recognition",
                "state": "cancelled", "attempt": 0, "created_at": "2026-11-21T09:00:00Z", "started_at": null,
                "ended_at": "2026-11-21T09:00:01Z"})),
        (status = 204, description = "The job is deleted."),
        JobDeleteProblems,
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
    loop {
        if let Some(job) = cancel(&app, &caller, id).await? {
            return app.deliveries.respond(job, |job| Ok(document::current(job, &context.request)));
        }
        if delete(&app, &caller, id).await? {
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
        // An operator may have returned the job to its queue meanwhile.
        find(&app, &caller, id).await?;
    }
}

/// Cancels a job that is queued or running. `None` if there is no such job.
async fn cancel(app: &App, caller: &Caller, id: JobId) -> Result<Option<Job>, Problem> {
    let guard = Guard::Unended { job: id, account_id: caller.account_id };
    let mut is_uncertain = false;
    let cancelled = retry_transient(|n_failed| {
        is_uncertain |= n_failed > 0;
        store::cancel(&app.database.pool, guard)
    })
    .await?;
    let is_cancelled = cancelled.any();
    if is_cancelled {
        cancelled::report(&app.database.pool, &[id], By::Request).await;
    }
    app.uploads.delete(cancelled.objects);
    if !is_cancelled && !is_uncertain {
        return Ok(None);
    }
    let job = find(app, caller, id).await?;
    // An attempt whose connection was lost may have cancelled the job before it was retried.
    Ok(Some(job).filter(|job| is_cancelled || job.state == JobState::Cancelled))
}

/// Deletes a job that has ended, with the object that may still have its upload. `true` if the job is deleted now, or was
/// before: by an attempt whose connection was lost, or by an earlier request.
async fn delete(app: &App, caller: &Caller, id: JobId) -> Result<bool, Problem> {
    let db = &app.database.pool;
    let account_id = caller.account_id;
    let Some(deleted) = retry_transient(|_| store::delete(db, id, account_id)).await? else {
        return Ok(retry_transient(|_| store::is_deleted(db, id, Some(account_id))).await?);
    };
    tracing::info!("job deleted");
    app.uploads.delete(deleted.object);
    app.uploads.deletions_tried().await;
    Ok(true)
}
