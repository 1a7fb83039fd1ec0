//! `DELETE /v1/groups/{name}`: cancels the jobs of a group that have not ended, and deletes all of them if the request says so.

use akhar_client::GroupBody;
use akhar_jobs::store;
use akhar_platform::database::retry_transient;
use akhar_requests::QUEUES;
use axum::{
    Json,
    extract::State,
    http::{StatusCode, Uri},
    response::{IntoResponse as _, Response},
};

use super::get::{GroupPath, PATH, body, find};
use crate::{
    app::App,
    auth::caller::Caller,
    http::context::AcceptsJson,
    input::{
        field::field,
        fields::{Fields as _, fields},
        query,
    },
    outcomes::cancelled::{self, By},
    problems::{Problem, responses::problems},
};

problems! {
    /// The problems of cancelling or deleting a group.
    GroupDeleteProblems at PATH, PurgeQuery::violation() => Unauthorized, OutOfScope, NotFound, NotAcceptable, InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

fields! {
    /// The parameter of cancelling or deleting a group.
    PurgeQuery {
        /// Delete all jobs of the group, those that have ended and those that are cancelled now. The default is false.
        purge: bool = field("purge").wrong("yes"),
    }
}

/// Cancels the jobs of a group, and responds with the group. With `purge`, deletes them.
#[utoipa::path(
    delete,
    path = "/v1/groups/{name}",
    operation_id = "delete-group",
    tag = "groups",
    summary = "Cancel the jobs of a group that have not ended, or delete all of its jobs",
    description = "The jobs that are queued or running are cancelled. With `purge=true` all jobs of the group are then deleted, as \
        `DELETE /v1/jobs/{id}` does it, and the group does not exist any more. If the request is interrupted, some of the jobs are \
        cancelled or deleted; send it again for the rest.",
    params(GroupPath, PurgeQuery),
    responses(
        (status = 200, description = "The jobs were cancelled.", body = GroupBody,
            example = json!({"name": "calls-2026-11-26", "has_ended": true, "queued": 0, "running": 0, "succeeded": 873, "failed": 3,
                "cancelled": 9124, "created_at": "2026-11-26T09:00:00Z", "last_ended_at": "2026-11-26T09:14:23.041Z"})),
        (status = 204, description = "The jobs are deleted."),
        GroupDeleteProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    _accepts: AcceptsJson,
    GroupPath(name): GroupPath,
    uri: Uri,
) -> Result<Response, Problem> {
    let PurgeQuery { purge } = query::parse(&uri)?;
    find(&app, &caller, &name).await?;
    let (db, account_id) = (&app.database.pool, caller.account_id);
    let _turn = app.turns.take(account_id).await?;
    let cancelled = retry_transient(|_| store::cancel_group(db, &QUEUES, account_id, &name)).await?;
    cancelled::report(&app.database.pool, &cancelled.jobs, By::Request).await;
    app.uploads.delete(cancelled.objects);
    if purge != Some(true) {
        return Ok(Json(body(find(&app, &caller, &name).await?)).into_response());
    }
    let deleted = retry_transient(|_| store::delete_group(db, account_id, &name)).await?;
    tracing::info!(n_jobs = deleted.len(), "the jobs of a group were deleted");
    app.uploads.delete(deleted.into_iter().filter_map(|job| job.object));
    app.uploads.deletions_tried().await;
    Ok(StatusCode::NO_CONTENT.into_response())
}
