//! `GET /v1/groups`: responds with a list of the caller's groups, in the order of their names.

use akhar_client::GroupsBody;
use akhar_jobs::{GroupName, store};
use akhar_platform::database::retry_transient;
use akhar_requests::Bounded;
use axum::{Json, extract::State, http::Uri};

use super::get::body;
use crate::{
    app::App,
    auth::caller::Caller,
    http::context::AcceptsJson,
    input::{
        field::field,
        fields::{Fields as _, fields},
        query,
    },
    page::{self, cut, more},
    problems::{Problem, responses::problems},
};

problems! {
    /// The problems of listing groups.
    GroupsProblems at "/v1/groups", GroupsQuery::violation() => Unauthorized, OutOfScope, NotAcceptable, InvalidInput, QuotaExceeded, AccountBusy, Internal, Busy, Unavailable,
}

fields! {
    /// The parameters of the list.
    GroupsQuery {
        /// Only groups whose names come after this one.
        after: GroupName = field("after"),
        /// The most groups in the response. The default is 20.
        limit: Bounded<u8, 1, 100> = field("limit").wrong("101"),
    }
}

/// Responds with the caller's groups. `next` in the response is the value of `after` for the next page.
#[utoipa::path(
    get,
    path = "/v1/groups",
    operation_id = "list-groups",
    tag = "groups",
    summary = "List the groups of your jobs, in the order of their names",
    description = "Lists the groups that have jobs of the key's account. For the next page, send `after` with the value of `next`.",
    params(GroupsQuery),
    responses(
        (status = 200, description = "The groups.", body = GroupsBody,
            example = json!({"groups": [{"name": "calls-2026-11-26", "has_ended": true, "queued": 0, "running": 0,
                "succeeded": 9997, "failed": 3, "cancelled": 0, "created_at": "2026-11-26T09:00:00Z",
                "last_ended_at": "2026-11-26T11:40:07.300Z"}]})),
        GroupsProblems,
    ),
    security(("bearer" = [])),
)]
pub(crate) async fn handle(
    State(app): State<App>,
    caller: Caller,
    _accepts: AcceptsJson,
    uri: Uri,
) -> Result<Json<GroupsBody>, Problem> {
    let GroupsQuery { after, limit } = query::parse(&uri)?;
    let limit = page::limit(limit);
    let list = |_| store::list_groups(app.database.lists(), caller.account_id, after.as_ref(), more(limit));
    let _turn = app.turns.take(caller.account_id).await?;
    let mut groups = retry_transient(list).await?;
    let next = cut(&mut groups, limit, |group| group.name.clone().into());
    Ok(Json(GroupsBody { groups: groups.into_iter().map(body).collect(), next }))
}
