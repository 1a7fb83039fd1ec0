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
    search::{JobRow, JobSearch, push_conditions},
};

/// The most jobs that one statement changes.
const BATCH: usize = MAX_ENDINGS;

/// The most jobs that are selected at a time, to be changed in batches.
const SELECTED: usize = 100_000;

/// What an operator does to jobs. [`Change::facts`] describes each: requests, pages and commands are made from that.
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

/// What there is to know about a change.
#[derive(Debug)]
pub struct Facts {
    /// Its name in requests and commands.
    pub name: &'static str,
    /// What it is in the audit trail, and who may do it.
    pub action: Action,
    /// What it does to jobs.
    pub verb: &'static str,
    /// The verb for what was done.
    pub past: &'static str,
    /// What the jobs have become.
    pub became: &'static str,
    /// Why it is not done to a job that is named.
    pub refused: &'static str,
    /// The help of its command.
    pub help: &'static str,
    /// What somebody must know before they do it, because it cannot be undone.
    pub warning: Option<&'static str>,
    /// Whether it is possible for a job.
    pub is_possible: fn(&JobRow) -> bool,
    /// The same as a condition on a row `j`.
    condition: &'static str,
    /// The order in which jobs are changed: that of an index that has the condition, the oldest first.
    order: &'static str,
}

impl Change {
    /// Every change.
    pub const ALL: [Self; 3] = [Self::Retry, Self::Cancel, Self::Purge];

    /// The name in requests.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// What there is to know about it.
    pub const fn facts(self) -> &'static Facts {
        match self {
            Self::Retry => &Facts {
                name: "retry",
                action: Action::JobsRetry,
                verb: "retry",
                past: "retried",
                became: "wait again",
                refused: "did not fail in the service, or are gone: they cannot be retried",
                help: "Return failed jobs to their queues. Only jobs that the service failed to process can be retried, not those whose \
                    input was rejected",
                warning: None,
                is_possible: |job| job.can_be_retried,
                condition: CAN_BE_RETRIED,
                order: "j.id",
            },
            Self::Cancel => &Facts {
                name: "cancel",
                action: Action::JobsCancel,
                verb: "cancel",
                past: "cancelled",
                became: "were cancelled",
                refused: "have ended, or are gone: they cannot be cancelled",
                help: "Cancel jobs that have not ended. A running job stops soon",
                warning: None,
                is_possible: |job| !job.state.is_final(),
                condition: "j.ended_at is null",
                order: "j.id",
            },
            Self::Purge => &Facts {
                name: "purge",
                action: Action::JobsPurge,
                verb: "delete",
                past: "deleted",
                became: "were deleted",
                refused: "have not ended, or are gone: they cannot be deleted",
                help: "Delete jobs that have ended, with their results",
                warning: Some("Deletes jobs that have ended, with their results. This cannot be undone."),
                is_possible: |job| job.state.is_final(),
                condition: "j.ended_at is not null",
                order: "j.ended_at",
            },
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
    query.push(change.map_or("true", |(change, _)| change.facts().condition));
    push_conditions(&mut query, search);
    if let Some((change, limit)) = change {
        query.push(" order by ").push(change.facts().order).push(" limit ").push_bind(limit);
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
    let entry = actor.begin(change.facts().action)?;
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
    query.push(change.facts().condition);
    push_conditions(&mut query, search);
    query.push(" order by ").push(change.facts().order).push(" limit ");
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
         from (select last_error, ended_at from jobs where ended_as = 'failed' order by id desc limit 2000) as failed
         where last_error is not null group by last_error order by n_jobs desc, error limit $1",
    )
    .bind(limit)
    .fetch_all(db)
    .await
}
