//! What operators do to jobs of all accounts, and why jobs failed.

use akhar_jobs::{
    JobId, JobState,
    store::{CAN_BE_RETRIED, Ending, Guard, MAX_ENDINGS, announce_ends, delete_these, end_within, retry},
};
use akhar_platform::database::{Pool, transaction};
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::{PgConnection, Postgres, QueryBuilder};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::{
    audit::{Action, Actor, ChangeError, Entry},
    search::{JobSearch, push_conditions},
};

/// The most jobs that one statement changes.
const BATCH: usize = MAX_ENDINGS;

/// The most jobs that are selected at a time, to be changed in batches.
const SELECTED: usize = 100_000;

/// What an operator does to jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Returns failed jobs to their queues, as asynchronous ones. Only jobs that the service failed to process can be
    /// retried: their uploads are kept.
    Retry,
    /// Cancels jobs that have not ended. If their uploads are outside the database, the workers' search for objects without a
    /// job deletes them.
    Cancel,
    /// Deletes jobs that have ended, with their outcomes.
    Purge,
}

impl Change {
    /// Every change.
    pub const ALL: [Self; 3] = [Self::Retry, Self::Cancel, Self::Purge];

    /// The name in requests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Retry => "retry",
            Self::Cancel => "cancel",
            Self::Purge => "purge",
        }
    }

    const fn action(self) -> Action {
        match self {
            Self::Retry => Action::JobsRetry,
            Self::Cancel => Action::JobsCancel,
            Self::Purge => Action::JobsPurge,
        }
    }

    /// The condition on a row `j` under which the change is possible.
    const fn condition(self) -> &'static str {
        match self {
            Self::Retry => CAN_BE_RETRIED,
            Self::Cancel => "(j.state = 'queued' or j.state = 'running')",
            Self::Purge => "j.ended_at is not null",
        }
    }

    /// The order in which jobs are changed: that of an index that has the condition, the oldest first.
    const fn order(self) -> &'static str {
        match self {
            Self::Retry | Self::Cancel => "j.id",
            Self::Purge => "j.ended_at",
        }
    }
}

/// Jobs of one account, operation and state.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
#[schema(as = AdminJobGroup)]
pub struct JobGroup {
    /// The name of the account.
    pub account: Option<String>,
    /// The operation's name.
    pub operation: String,
    /// The state.
    #[schema(value_type = akhar_client::JobState)]
    pub state: JobState,
    /// The number of jobs.
    pub n_jobs: i64,
    /// The age of the oldest of them, seconds.
    pub oldest_s: f64,
}

/// Counts the jobs that a search selects, by account, operation and state: the most numerous first. With a change, only those
/// to which it is possible, and at most as many as the limit says, the oldest first. Without a condition that an index has,
/// it reads the whole table.
pub async fn count(
    db: &Pool,
    search: &JobSearch,
    change: Option<(Change, i64)>,
) -> Result<Vec<JobGroup>, sqlx::Error> {
    let mut query = QueryBuilder::<Postgres>::new(
        "with groups as (
             select j.account_id, j.operation, j.state, count(*) as n_jobs,
                 greatest(extract(epoch from now() - min(j.created_at)), 0)::float8 as oldest_s
             from (select j.account_id, j.operation, j.state, j.created_at from jobs j where ",
    );
    query.push(change.map_or("true", |(change, _)| change.condition()));
    push_conditions(&mut query, search);
    if let Some((change, limit)) = change {
        query.push(" order by ").push(change.order()).push(" limit ").push_bind(limit);
    }
    query.push(
        ") j group by j.account_id, j.operation, j.state)
         select a.name as account, g.operation, g.state, g.n_jobs, g.oldest_s
         from groups g left join accounts a on a.id = g.account_id order by g.n_jobs desc, a.name, g.operation, g.state",
    );
    query.build_query_as().fetch_all(db).await
}

/// Changes at most `limit` of the jobs that a search selects, the oldest first, as far as that is possible. Returns their
/// number. Each batch is a transaction.
pub async fn apply(
    db: &Pool,
    actor: &Actor,
    change: Change,
    search: &JobSearch,
    limit: usize,
) -> Result<usize, ChangeError> {
    let entry = actor.begin(change.action())?;
    let target = search.to_string();
    let mut n_changed = 0;
    while n_changed < limit {
        let found = select(db, change, search, (limit - n_changed).min(SELECTED)).await?;
        let before = n_changed;
        for batch in found.chunks(BATCH) {
            n_changed += change_batch(db, &entry, &target, change, batch).await?;
        }
        if n_changed == before {
            break;
        }
    }
    Ok(n_changed)
}

/// Changes jobs, as far as that is possible, and records it. Returns their number.
async fn change_batch(
    db: &Pool,
    entry: &Entry,
    target: &str,
    change: Change,
    batch: &[(JobId, Uuid)],
) -> Result<usize, sqlx::Error> {
    let entry = entry.clone();
    let target = target.to_owned();
    let batch = batch.to_vec();
    db.run(move |db| {
        Box::pin(async move {
            let changed = transaction(db, async |db: &mut PgConnection| {
                let mut ended = Vec::new();
                let n = match change {
                    Change::Retry => retry(db, &batch.iter().map(|(id, _)| *id).collect::<Vec<_>>()).await?,
                    Change::Cancel => {
                        ended = end_within(db, &cancellations(&batch)).await?;
                        ended.len()
                    }
                    Change::Purge => {
                        delete_these(db, batch.iter().map(|(id, _)| id.0).collect()).await?.len()
                    }
                };
                entry.record(db, &target, n).await?;
                Ok::<_, sqlx::Error>((n, ended))
            });
            let (n, ended) = changed.await?;
            announce_ends(db, &ended).await;
            Ok(n)
        })
    })
    .await
}

/// The ids of jobs that can be changed, each with its account.
async fn select(
    db: &Pool,
    change: Change,
    search: &JobSearch,
    limit: usize,
) -> Result<Vec<(JobId, Uuid)>, sqlx::Error> {
    let mut query = QueryBuilder::<Postgres>::new("select j.id, j.account_id from jobs j where ");
    query.push(change.condition());
    push_conditions(&mut query, search);
    query.push(" order by ").push(change.order()).push(" limit ");
    query.push_bind(i64::try_from(limit).unwrap_or(i64::MAX));
    query.build_query_as().fetch_all(db).await
}

fn cancellations(jobs: &[(JobId, Uuid)]) -> Vec<Ending> {
    let cancelled =
        |&(job, account_id): &(JobId, Uuid)| Ending::cancelled(Guard::Unended { job, account_id });
    jobs.iter().map(cancelled).collect()
}

/// How many jobs failed with one error.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct ErrorCount {
    /// The error of the last attempt.
    pub error: String,
    /// The number of jobs.
    pub n_jobs: i64,
    /// When the last of them ended.
    pub last_ended_at: DateTime<Utc>,
}

/// The most frequent errors among the 2,000 jobs that failed last.
pub async fn errors(db: &Pool, limit: i64) -> Result<Vec<ErrorCount>, sqlx::Error> {
    sqlx::query_as(
        "select last_error as error, count(*) as n_jobs, max(ended_at) as last_ended_at
         from (select last_error, ended_at from jobs where state = 'failed' order by id desc limit 2000) as failed
         where last_error is not null group by last_error order by n_jobs desc, error limit $1",
    )
    .bind(limit)
    .fetch_all(db)
    .await
}
