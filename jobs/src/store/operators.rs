//! What operators do to jobs of all accounts, and why jobs failed.

use chrono::{DateTime, Utc};
use sqlx::{PgPool, Postgres, QueryBuilder};
use uuid::Uuid;

use crate::JobId;

use super::{
    Guard,
    announcements::JOBS_QUEUED,
    cancel,
    search::{JobSearch, push_conditions},
};

/// The most jobs that one statement retries or deletes.
const BATCH: i64 = 200;

/// How often a job that is retried may be claimed again.
const MORE_ATTEMPTS: i32 = crate::MAX_ATTEMPTS;

/// An attempt that failed.
#[derive(Debug, Clone, serde::Serialize, sqlx::FromRow)]
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
pub async fn failed_attempts(db: &PgPool, job: JobId) -> Result<Vec<FailedAttempt>, sqlx::Error> {
    sqlx::query_as(
        "select attempt, worker, started_at, ended_at, error from failed_attempts where job_id = $1 order by attempt",
    )
    .bind(job)
    .fetch_all(db)
    .await
}

/// Returns failed jobs to their queues, as asynchronous ones. Only jobs that the service failed to process can be retried:
/// their uploads are kept. Returns their ids.
pub async fn retry(db: &PgPool, search: &JobSearch) -> Result<Vec<JobId>, sqlx::Error> {
    let mut query = QueryBuilder::<Postgres>::new(
        "with found as (
             select j.id from jobs j where j.state = 'failed' and j.outcome->>'kind' = 'failed'
                 and (j.upload is not null or j.upload_url is not null or j.operation = 'handwriting-generator')",
    );
    push_conditions(&mut query, search);
    query.push(" order by j.id limit ").push_bind(BATCH).push(
        " for update),
         retried as (
             update jobs j set state = 'queued', outcome = null, ended_at = null, started_at = null, priority = 0, acknowledged = true,
                 run_at = now(), max_attempts = j.attempt + ",
    );
    query.push_bind(MORE_ATTEMPTS).push(
        " from found where j.id = found.id returning j.id, j.queue),
         notified as (select pg_notify(",
    );
    query.push_bind(JOBS_QUEUED).push(
        ", string_agg(distinct queue, ',')) from retried having count(*) > 0)
         select id from retried, notified",
    );
    query.build_query_scalar().fetch_all(db).await
}

/// Deletes jobs that have ended, with their outcomes. Returns their number. Deletes a limited number at a time: call it
/// until it returns 0.
pub async fn purge(db: &PgPool, search: &JobSearch) -> Result<u64, sqlx::Error> {
    let mut query = QueryBuilder::<Postgres>::new(
        "delete from jobs where id in (select j.id from jobs j where j.ended_at is not null",
    );
    push_conditions(&mut query, search);
    query.push(" order by j.ended_at limit ").push_bind(BATCH).push(" for update skip locked)");
    Ok(query.build().execute(db).await?.rows_affected())
}

/// Cancels a job of any account. If its upload is outside the database, the workers' search for objects without a job
/// deletes it. Returns `false` if it has ended, or if there is no such job.
pub async fn cancel_any(db: &PgPool, job: JobId) -> Result<bool, sqlx::Error> {
    let account = sqlx::query_scalar("select account_id from jobs where id = $1");
    let account: Option<Uuid> = account.bind(job).fetch_optional(db).await?;
    match account {
        Some(account_id) => Ok(cancel(db, Guard::Unended { job, account_id }).await?.any()),
        None => Ok(false),
    }
}

/// How many jobs failed with one error.
#[derive(Debug, Clone, serde::Serialize, sqlx::FromRow)]
pub struct ErrorCount {
    /// The error of the last attempt.
    pub error: String,
    /// The number of jobs.
    pub n_jobs: i64,
    /// When the last of them ended.
    pub last_ended_at: DateTime<Utc>,
}

/// The most frequent errors among the 2,000 jobs that failed last.
pub async fn errors(db: &PgPool, limit: i64) -> Result<Vec<ErrorCount>, sqlx::Error> {
    sqlx::query_as(
        "select last_error as error, count(*) as n_jobs, max(ended_at) as last_ended_at
         from (select last_error, ended_at from jobs where state = 'failed' order by id desc limit 2000) as failed
         where last_error is not null group by last_error order by n_jobs desc, error limit $1",
    )
    .bind(limit)
    .fetch_all(db)
    .await
}
