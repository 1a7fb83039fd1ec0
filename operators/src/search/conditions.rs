//! The conditions of a search, as parts of statements.

use std::time::Duration;

use sqlx::{Postgres, QueryBuilder};
use uuid::Uuid;

use akhar_jobs::JobState;

use super::{
    order::{Order, is_by_state},
    terms::JobSearch,
};

/// The most jobs that are read to find the one of a request that the api gave its id. They follow one another in the table,
/// so reading them takes less time.
const MAX_READ_BY_TIME: i64 = 10_000;

/// The most jobs that run at a time, for this page. A worker runs few.
const MAX_RUNNING: i64 = 10_000;

/// A request id that the api made: a UUIDv7. The index `jobs_of_request` has all others.
const MADE_BY_API: &str = "________-____-7___-____-____________";

/// How much the clocks of two machines may differ.
const CLOCK_DIFFERENCE: Duration = Duration::from_secs(1);

/// The rows among which the search is made.
pub(super) fn push_source(query: &mut QueryBuilder<Postgres>, search: &JobSearch, order: Order) {
    let made = search
        .request_id
        .as_ref()
        .map(|id| id.0.as_str())
        .filter(|_| search.ids.is_none())
        .and_then(made_by_api);
    if let Some(made) = made {
        query.push("(select * from jobs where id >= ").push_bind(earliest_job(made));
        query.push(" order by id limit ").push_bind(MAX_READ_BY_TIME).push(") j");
    } else if order == Order::Newest && is_by_state(search) && search.state == Some(JobState::Running) {
        // Running jobs are not found in the order of the page.
        query.push("(select * from running_jobs() limit ").push_bind(MAX_RUNNING).push(") j");
    } else {
        query.push("jobs j");
    }
}

/// The conditions that choose an index. States are part of the text, because indexes have them as conditions.
pub(super) fn push_index_conditions(query: &mut QueryBuilder<Postgres>, search: &JobSearch, order: Order) {
    if let Some(ids) = &search.ids {
        query.push(" and j.id = any(").push_bind(ids.iter().map(|id| id.0).collect::<Vec<_>>()).push(")");
    } else if let Some(request_id) = &search.request_id {
        push_request(query, &request_id.0);
    } else if search.account.is_some() || search.group.is_some() {
        push_owner(query, search);
    } else {
        match order {
            Order::LastEnded => query.push(" and j.ended_at is not null"),
            Order::NextClaimed => query.push(" and j.ended_at is null and j.state = 'queued'"),
            Order::Newest => match search.state {
                Some(JobState::Failed) => query.push(" and j.ended_as = 'failed'"),
                _ => query,
            },
        };
        if let (Order::NextClaimed, Some(queue)) = (order, search.queue) {
            query.push(" and j.queue = ").push_bind(queue.name());
        }
    }
}

/// The conditions on the account and the group.
fn push_owner(query: &mut QueryBuilder<Postgres>, JobSearch { account, group, .. }: &JobSearch) {
    if let Some(account) = account {
        query.push(" and j.account_id = ").push_bind(account.id);
    }
    if let Some(group) = group {
        query.push(" and j.group_name = ").push_bind(group.clone());
    }
}

/// The condition on the id of the request.
fn push_request(query: &mut QueryBuilder<Postgres>, request_id: &str) {
    query.push(" and j.request_id = ").push_bind(request_id.to_owned());
    match made_by_api(request_id) {
        Some(made) => query.push(" and j.id >= ").push_bind(earliest_job(made)),
        None => query.push(" and j.request_id not like '").push(MADE_BY_API).push("'"),
    };
}

/// The id of a request, if it is one that the api makes.
fn made_by_api(request_id: &str) -> Option<Uuid> {
    Uuid::try_parse(request_id).ok().filter(|id| id.get_version_num() == 7 && request_id.len() == 36)
}

/// The lowest id that a job of this request can have. Both ids begin with a time, and the clocks of two machines may differ a
/// little.
fn earliest_job(request: Uuid) -> Uuid {
    Uuid::from_u128((request.as_u128() >> 80).saturating_sub(CLOCK_DIFFERENCE.as_millis()) << 80)
}

/// All conditions of a search on a row `j`.
pub(super) fn push_filters(query: &mut QueryBuilder<Postgres>, search: &JobSearch) {
    let JobSearch { state, queue, operation, error, older_than, ended_before, .. } = search;
    push_owner(query, search);
    if let Some(state) = state {
        query.push(" and j.state = '").push(state.name()).push("'");
    }
    if let Some(queue) = queue {
        query.push(" and j.queue = ").push_bind(queue.name());
    }
    if let Some(operation) = operation {
        query.push(" and j.operation = ").push_bind(operation.name());
    }
    if let Some(error) = error {
        query.push(" and position(lower(").push_bind(error.0.clone()).push(") in lower(j.last_error)) > 0");
    }
    for (column, age) in [("created_at", older_than), ("ended_at", ended_before)] {
        if let Some(age) = age {
            query.push(" and j.").push(column).push(" < now() - make_interval(secs => ");
            query.push_bind(age.0.as_secs_f64()).push(")");
        }
    }
}

/// All conditions of a search on a row `j` of jobs, for a statement that reads no page.
pub(crate) fn push_conditions(query: &mut QueryBuilder<Postgres>, search: &JobSearch) {
    if let Some(ids) = &search.ids {
        query.push(" and j.id = any(").push_bind(ids.iter().map(|id| id.0).collect::<Vec<_>>()).push(")");
    }
    if let Some(request_id) = &search.request_id {
        push_request(query, &request_id.0);
    }
    match search.state {
        Some(JobState::Queued | JobState::Running) => query.push(" and j.ended_at is null"),
        Some(JobState::Failed) => query.push(" and j.ended_as = 'failed'"),
        Some(JobState::Succeeded | JobState::Cancelled) | None => query,
    };
    push_filters(query, search);
}
