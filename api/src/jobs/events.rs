//! `GET /v1/jobs/{id}/events`: responds with the events of a job as they happen, as Server-Sent Events.

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse as _, Response},
};
use utoipa::ToSchema;

use super::{
    documentation::{EVENT_EXAMPLES, EVENTS_PATH},
    event_id::EventId,
    event_writer::JobEventWriter,
    get::{JobPath, find},
};
use crate::{
    app::App,
    auth::caller::Caller,
    http::{context::RequestContext, event_stream, representation::Representation},
    input::query,
    problems::{Problem, ProblemType, responses::problems},
    waiting::follower,
};

problems! {
    /// The problems of following a job.
    JobEventsProblems at EVENTS_PATH, EVENT_EXAMPLES: Unauthorized, NotFound, NotAcceptable, InvalidInput, QuotaExceeded, TooManyStreams,
    Internal, Busy, Draining, Unavailable,
}

/// An event of a job.
#[derive(ToSchema)]
#[schema(as = JobEvent)]
#[expect(dead_code, reason = "describes the events to the OpenAPI document")]
pub(crate) struct JobEventSchema {
    /// What has happened.
    event: EventName,
    /// The number of the attempt, a point and the number of segments so far; `end` for the last event.
    #[schema(pattern = "^(end|[0-9]{1,9}\\.[0-9]{1,9})$", example = "1.5")]
    id: String,
    /// JSON: a `StateEvent`, `ProgressEvent`, `Segment` or `Job`.
    #[schema(example = r#"{"start":0.24,"end":1.36,"transcription":"ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"}"#)]
    data: String,
    /// Milliseconds after which to connect again if the stream breaks. Present only in the first event.
    #[schema(nullable = false, minimum = 0)]
    retry: Option<u32>,
}

/// What has happened to a job.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "describes the events to the OpenAPI document")]
enum EventName {
    /// Its state or its place in the queue has changed.
    State,
    /// More of the recording is transcribed.
    Progress,
    /// A segment is finished.
    Segment,
    /// The job has ended.
    Done,
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
    params(
        JobPath,
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that you have received. The \
            stream continues after it. If that was `done`, the response is 204.", pattern = "^(end|[0-9]{1,9}\\.[0-9]{1,9})?$"),
    ),
    responses(
        (status = 200, description = "The events. The schema is that of one event.",
            content((JobEventSchema = "text/event-stream"))),
        (status = 204, description = "There are no more events."),
        JobEventsProblems,
    ),
    security(("bearer" = [])),
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
    let mut violations = query::unexpected(&uri);
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
    let stream = app.streams.open(caller.account_id).ok_or(Problem::of(ProblemType::TooManyStreams))?;
    let writer = JobEventWriter::new(context.request.id, id, last);
    Ok(event_stream::respond(follower::events(stream, waiter, writer)))
}
