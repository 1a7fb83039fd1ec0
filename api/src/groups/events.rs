//! `GET /v1/groups/{name}/events`: responds with the counts of a group as they change, as Server-Sent Events.

use akhar_client::GroupEventBody;
use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse as _, Response},
};

use super::{
    counts::Counts,
    followed_group::FollowedGroup,
    get::{GroupPath, follow, found},
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
    /// The problems of following a group.
    GroupEventsProblems at "/v1/groups/calls-2026-11-26/events", [Counts::not_an_event("x")] => Unauthorized, OutOfScope, NotFound,
    NotAcceptable, InvalidInput, QuotaExceeded, AccountBusy, TooManyStreams, Internal, Busy, Unavailable,
}

/// Responds with the events of a group of the caller, until it has ended.
#[utoipa::path(
    get,
    path = "/v1/groups/{name}/events",
    operation_id = "follow-group",
    tag = "groups",
    summary = "Follow a group: the counts of its jobs, as Server-Sent Events",
    description = "The response is a stream of events. `counts`: the number of jobs in a state has changed, at most once a second. \
        `ended`: no job waits or runs any more; it is the last event. The data of both is the group. After a pause of 15 s the \
        stream has a comment.",
    params(GroupPath, Counts),
    responses(
        (status = 200, description = "The events. The schema is that of one event.",
            content((GroupEventBody = "text/event-stream"))),
        (status = 204, description = "The group has ended, and you have received its last event."),
        GroupEventsProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    context: RequestContext,
    GroupPath(name): GroupPath,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    context.negotiate(Representation::EVENTS)?;
    let mut violations = query::unexpected(&uri);
    let known = Counts::read(&headers).unwrap_or_else(|violation| {
        violations.push(violation);
        None
    });
    Problem::reject_if_any(violations)?;
    let mut followed = follow(&app, &caller, &name);
    let group = found(followed.first().await, &name)?;
    if group.has_ended() && known == Some(Counts::from(&group)) {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let stream = app.streams.open(&caller).ok_or(Problem::of(ProblemType::TooManyStreams))?;
    Ok(event_stream::respond(follower::events(stream, FollowedGroup::new(followed, group, known))))
}
