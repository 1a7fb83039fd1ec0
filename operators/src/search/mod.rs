//! Finds jobs of all accounts for operators, a page at a time. A page reads a limited number of rows, whatever is searched
//! for.

mod conditions;
mod order;
mod rows;
pub mod terms;

use akhar_jobs::{JobId, store::CAN_BE_RETRIED};
use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::{Postgres, QueryBuilder};
use utoipa::ToSchema;

use conditions::{push_filters, push_index_conditions, push_source};
use order::{Order, has_filters};

pub(crate) use conditions::push_conditions;
pub use rows::{JobPage, JobRow, PageStart};
pub use terms::{AccountName, Age, JobSearch, Term, Text};

/// The most rows that one page reads while it looks for jobs. Then it ends, even if it has found none, and the next one
/// goes on.
const MAX_READ: i64 = 2_000;

/// How far a list of waiting jobs goes.
const MAX_SKIPPED: i64 = 2_000;

#[derive(sqlx::FromRow)]
struct FoundRow {
    #[sqlx(flatten)]
    job: JobRow,
    nth: i64,
}

/// The row at which a page stopped to read.
#[derive(sqlx::FromRow)]
struct LastRead {
    id: JobId,
    ended_at: Option<DateTime<Utc>>,
}

/// At most `limit` jobs. Those that wait are in the order of claims, those that have succeeded or were cancelled in the order
/// of their ends, and others newest first.
pub async fn search(
    db: &Pool,
    search: &JobSearch,
    from: Option<PageStart>,
    limit: u16,
) -> Result<JobPage, sqlx::Error> {
    let order = Order::of(search);
    let is_filtered = has_filters(search);
    // One row more than the page has tells whether there is a next page.
    let n_read = if is_filtered { MAX_READ } else { i64::from(limit) + 1 };
    let skipped = match from {
        Some(PageStart::Nth(n)) if order == Order::NextClaimed => i64::from(n).min(MAX_SKIPPED),
        _ => 0,
    };
    let mut rows: Vec<FoundRow> = {
        let mut query = QueryBuilder::<Postgres>::new("with read as materialized (");
        push_read(&mut query, search, order, from, n_read);
        query.push(") select j.*, j.group_name as \"group\", a.name as account from read j left join accounts a on a.id = j.account_id where true");
        push_filters(&mut query, search);
        query.push(" order by j.nth limit ").push_bind(i64::from(limit) + 1);
        query.build_query_as().fetch_all(db).await?
    };
    let is_full = rows.len() > usize::from(limit);
    rows.truncate(limit.into());
    let after = |id, ended_at: Option<DateTime<Utc>>, nth: i64| match (order, ended_at) {
        (Order::NextClaimed, _) => PageStart::Nth(u32::try_from(skipped + nth).unwrap_or(u32::MAX)),
        (Order::LastEnded, Some(at)) => PageStart::Ended(at, id),
        _ => PageStart::Job(id),
    };
    let last = rows.last().map(|row| after(row.job.id, row.job.ended_at, row.nth));
    let (next, n_read) = match (is_full, is_filtered) {
        (true, _) => (last, None),
        (false, false) => (None, None),
        (false, true) => {
            let stopped = last_read(db, search, order, from).await?;
            let next = stopped.map(|row| after(row.id, row.ended_at, MAX_READ));
            (next, next.map(|_| MAX_READ))
        }
    };
    let next = next.filter(|_| skipped < MAX_SKIPPED);
    Ok(JobPage { jobs: rows.into_iter().map(|row| row.job).collect(), next, n_read })
}

/// An attempt that failed.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
#[schema(as = AdminAttempt)]
pub struct FailedAttempt {
    /// The number of the claim.
    pub attempt: i32,
    /// The worker that had claimed the job.
    pub worker: Option<String>,
    /// When the job was claimed.
    pub started_at: Option<DateTime<Utc>>,
    /// When the failure was recorded.
    pub ended_at: DateTime<Utc>,
    /// Why it failed.
    pub error: String,
}

/// The failed attempts of a job, in order.
async fn failed_attempts(db: &Pool, job: JobId) -> Result<Vec<FailedAttempt>, sqlx::Error> {
    sqlx::query_as(
        "select attempt, worker, started_at, ended_at, error from failed_attempts where job_id = $1 order by attempt",
    )
    .bind(job)
    .fetch_all(db)
    .await
}

/// A job with the attempts that failed.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = AdminJobLife)]
pub struct JobLife {
    /// The job.
    pub job: JobRow,
    /// Its failed attempts, in order.
    pub failed_attempts: Vec<FailedAttempt>,
}

/// A job with its failed attempts. `None` if there is no such job.
pub async fn find(db: &Pool, id: JobId) -> Result<Option<JobLife>, sqlx::Error> {
    let these = JobSearch { ids: Some(vec![id]), ..JobSearch::default() };
    let Some(job) = search(db, &these, None, 1).await?.jobs.pop() else { return Ok(None) };
    Ok(Some(JobLife { job, failed_attempts: failed_attempts(db, id).await? }))
}

/// The last row that a page can read. `None` if there are fewer.
async fn last_read(
    db: &Pool,
    search: &JobSearch,
    order: Order,
    from: Option<PageStart>,
) -> Result<Option<LastRead>, sqlx::Error> {
    let mut query = QueryBuilder::<Postgres>::new("with read as materialized (");
    push_read(&mut query, search, order, from, MAX_READ);
    query.push(") select id, ended_at from read where nth = ").push_bind(MAX_READ);
    query.build_query_as().fetch_optional(db).await
}

/// The statement that reads the rows of one index.
fn push_read(
    query: &mut QueryBuilder<Postgres>,
    search: &JobSearch,
    order: Order,
    from: Option<PageStart>,
    limit: i64,
) {
    query.push(
        "select j.id, j.operation, j.queue, j.state, j.attempt, j.max_attempts, j.priority, j.account_id, j.group_name, j.request_id,
             j.worker, j.created_at, j.run_at, j.started_at, j.ended_at, j.decode_us, j.infer_us, j.transcribed_s, j.last_error,
             case when j.state = 'running' then extract(epoch from now() - greatest(j.started_at, j.progressed_at))::float8 end as progress_age_s,
             case when j.state = 'failed' and j.outcome->>'kind' = 'rejected'
                 then concat(j.outcome->>'field', ': ', j.outcome->>'detail') end as rejection,
             coalesce(octet_length(j.upload), j.upload_bytes) as upload_bytes, coalesce(",
    );
    query.push(CAN_BE_RETRIED).push(", false) as can_be_retried, row_number() over (order by ");
    query.push(order.columns()).push(") as nth from ");
    push_source(query, search, order);
    query.push(" where true");
    push_index_conditions(query, search, order);
    match (order, from) {
        (Order::Newest, Some(PageStart::Job(id))) => {
            query.push(" and j.id < ").push_bind(id);
        }
        (Order::LastEnded, Some(PageStart::Ended(at, id))) => {
            query.push(" and (j.ended_at, j.id) < (").push_bind(at).push(", ").push_bind(id).push(")");
        }
        _ => (),
    }
    query.push(" order by ").push(order.columns());
    if let (Order::NextClaimed, Some(PageStart::Nth(n))) = (order, from) {
        query.push(" offset ").push_bind(i64::from(n).min(MAX_SKIPPED));
    }
    query.push(" limit ").push_bind(limit);
}
