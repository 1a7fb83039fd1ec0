//! `GET /v1/groups/{name}`: responds with the counts of a group. With `?wait=N` the response waits for the end of its jobs.

use akhar_client::GroupBody;
use akhar_jobs::{GroupName, backend::BatchError, store::Group};
use axum::{
    Json,
    extract::{FromRequestParts, Path, State},
    http::{Uri, request::Parts},
};
use tokio::time::{Instant, sleep_until};
use utoipa::IntoParams;

use crate::{
    app::App,
    auth::caller::Caller,
    http::context::AcceptsJson,
    input::{fields::Fields as _, names::quoted},
    jobs::get::{WaitQuery, wait},
    problems::{Problem, ProblemType, responses::problems},
    waiting::group_readers::Followed,
};

problems! {
    /// The problems of getting a group.
    GroupProblems at PATH, WaitQuery::violation() => Unauthorized, OutOfScope, NotFound, NotAcceptable, InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

/// A path of these routes.
pub(super) const PATH: &str = "/v1/groups/calls-2026-11-26";

/// The name of a group in a request's path. Any other text is a 404.
#[derive(Debug, Clone, IntoParams)]
#[into_params(names("name"), parameter_in = Path)]
pub(crate) struct GroupPath(
    /// The group's name.
    #[param(value_type = String)]
    pub(crate) GroupName,
);

impl<S: Send + Sync> FromRequestParts<S> for GroupPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let path = Path::<String>::from_request_parts(parts, state).await;
        let name = path.ok().and_then(|Path(name)| GroupName::parse(&name));
        name.map(Self).ok_or(Problem::of(ProblemType::NotFound))
    }
}

/// Follows a group of the caller's account.
pub(super) fn follow(app: &App, caller: &Caller, name: &GroupName) -> Followed {
    app.groups.follow(&app.database.pool, caller.account_id, name)
}

/// Reads a group of the caller's account.
pub(super) async fn find(app: &App, caller: &Caller, name: &GroupName) -> Result<Group, Problem> {
    found(follow(app, caller, name).first().await, name)
}

/// A group that was read.
pub(super) fn found(read: Result<Option<Group>, BatchError>, name: &GroupName) -> Result<Group, Problem> {
    read?.ok_or_else(|| {
        let detail = format!("No job of your account is in a group {}.", quoted(name.as_str()));
        Problem::of(ProblemType::NotFound).with_detail(detail)
    })
}

/// The document of a group.
pub(crate) fn body(group: Group) -> GroupBody {
    GroupBody {
        has_ended: group.has_ended(),
        name: group.name.into(),
        queued: group.n_queued,
        running: group.n_running,
        succeeded: group.n_succeeded,
        failed: group.n_failed,
        cancelled: group.n_cancelled,
        created_at: group.created_at,
        last_ended_at: group.last_ended_at,
    }
}

/// Responds with a group, at once or when its jobs have ended.
#[utoipa::path(
    get,
    path = "/v1/groups/{name}",
    operation_id = "get-group",
    tag = "groups",
    summary = "Get the counts of a group's jobs, at once or when they have ended",
    params(GroupPath, WaitQuery),
    responses(
        (status = 200, description = "The group.", body = GroupBody,
            example = json!({"name": "calls-2026-11-26", "has_ended": false, "queued": 9120, "running": 4, "succeeded": 873,
                "failed": 3, "cancelled": 0, "created_at": "2026-11-26T09:00:00Z",
                "last_ended_at": "2026-11-26T09:14:21.120Z"})),
        GroupProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    _accepts: AcceptsJson,
    GroupPath(name): GroupPath,
    uri: Uri,
) -> Result<Json<GroupBody>, Problem> {
    let deadline = Instant::now() + wait(&uri)?;
    let revoked = caller.key.clone().revoked();
    tokio::select! {
        group = ended_by(&app, &caller, &name, deadline) => Ok(Json(body(group?))),
        () = revoked => Err(Problem::of(ProblemType::Unauthorized)),
    }
}

/// The group when its jobs have ended, or when the deadline has passed or the process stops.
async fn ended_by(app: &App, caller: &Caller, name: &GroupName, deadline: Instant) -> Result<Group, Problem> {
    let mut followed = follow(app, caller, name);
    let mut group = found(followed.first().await, name)?;
    while !group.has_ended() {
        tokio::select! {
            read = followed.next() => group = found(read, name)?,
            () = sleep_until(deadline) => break,
            () = app.shutdown.soft.cancelled() => break,
        }
    }
    Ok(group)
}
