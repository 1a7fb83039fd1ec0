//! `GET /v1/jobs/{id}/events`: responds with the events of a job as they happen, as Server-Sent Events.

use akhar_client::JobEventBody;
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse as _, Response},
};

use super::{
    event_id::EventId,
    event_writer::JobEventWriter,
    get::{JobPath, find},
};
use crate::{
    app::App,
    auth::{caller::Caller, scope::TOKEN},
    http::{context::RequestContext, event_stream, representation::Representation},
    input::query,
    problems::{Problem, ProblemType, responses::problems},
    waiting::{followed_job::FollowedJob, follower},
};

problems! {
    /// The problems of following a job.
    JobEventsProblems at "/v1/jobs/019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11/events", [EventId::not_an_event("x")] => Unauthorized, OutOfScope, NotFound,
    NotAcceptable, JobDeleted, InvalidInput, QuotaExceeded, AccountBusy, TooManyStreams, Internal, Busy, Unavailable,
}

/// Responds with the events of a job of the caller, until it has ended.
#[utoipa::path(
    get,
    path = "/v1/jobs/{id}/events",
    operation_id = "follow-job",
    tag = "jobs",
    summary = "Follow a job: its state, its progress and its segments, as Server-Sent Events",
    description = "The response is a stream of events. `state`: the job's state has changed, or its place in the queue. \
        `progress`: more of the recording is transcribed. `segment`: a segment is finished. `done`: the job has ended; the \
        data is the job's document, and it is the last event. After a pause of 15 s the stream has a comment.",
    params(JobPath, EventId),
    responses(
        (status = 200, description = "The events. The schema is that of one event.",
            content((JobEventBody = "text/event-stream"))),
        (status = 204, description = "There are no more events."),
        JobEventsProblems,
    ),
    security(("bearer" = []), ("token" = [])),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    context: RequestContext,
    JobPath(id): JobPath,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    context.negotiate(Representation::EVENTS)?;
    // The caller has read the token.
    let mut violations = query::unexpected_but(&uri, TOKEN);
    let last = EventId::read(&headers).unwrap_or_else(|violation| {
        violations.push(violation);
        None
    });
    Problem::reject_if_any(violations)?;
    let waiter = app.waiters.subscribe(id);
    let job = find(&app, &caller, id).await?;
    if job.state.is_final() && last == Some(EventId::End) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let stream = app.streams.open(&caller).ok_or(Problem::of(ProblemType::TooManyStreams))?;
    let writer = JobEventWriter::new(context.request.id, id, last);
    Ok(event_stream::respond(follower::events(stream, FollowedJob::new(waiter, writer))))
}
