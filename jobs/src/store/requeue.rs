//! Returns jobs to their queues. No other statement moves a job from running back to queued.

use std::{collections::HashSet, time::Duration};

use sqlx::PgExecutor;

use crate::{Fence, JobId};

use super::{announcements::JOBS_QUEUED, rows::column};

/// A claimed job that returns to its queue.
#[derive(Debug, Clone)]
pub struct Requeue {
    /// The claim that ends. If it is no longer current, the job is not changed.
    pub fence: Fence,
    /// Whether the attempt counts as one of the job's attempts. One that ends because its worker is told to stop does not, so
    /// the job gets another one for it.
    pub is_spent: bool,
    /// Whether its worker has died or lost it.
    pub is_death: bool,
    /// How long the job must wait before it can be claimed again.
    pub delay: Duration,
    /// Why the job returns to its queue. Shown to operators only.
    pub error: String,
}

/// Returns jobs to their queues if their claims are still current, deletes the segments of the attempts, and records that
/// these failed. Returns one `bool` for each item, in order: `false` if the claim was no longer current and nothing was
/// changed.
pub async fn requeue(db: impl PgExecutor<'_>, requeues: &[Requeue]) -> Result<Vec<bool>, sqlx::Error> {
    let changed: HashSet<JobId> = update(db, requeues).await?.into_iter().collect();
    Ok(requeues.iter().map(|r| changed.contains(&r.fence.job)).collect())
}

/// First locks the rows in the order of their ids: the update changes them in the order of the items.
async fn update(db: impl PgExecutor<'_>, requeues: &[Requeue]) -> Result<Vec<JobId>, sqlx::Error> {
    sqlx::query_scalar(
        "with locked as (select from jobs where id = any($1) order by id for update),
         requeued as (
             update jobs j set state = 'queued', worker = null, last_error = r.error,
                 max_attempts = j.max_attempts + (not r.is_spent)::int4, deaths = j.deaths + r.is_death::int4,
                 run_at = now() + make_interval(secs => r.delay_s)
             from unnest($1::uuid[], $2::int4[], $3::bool[], $4::float8[], $5::text[], $7::bool[])
                 as r (id, attempt, is_spent, delay_s, error, is_death)
             where j.id = r.id and (cardinality($1) = 1 or (select count(*) from locked) > 0)
                 and j.state = 'running' and j.attempt = r.attempt
             returning j.id, j.queue),
         failed as (
             insert into failed_attempts (job_id, attempt, worker, started_at, error)
             select j.id, r.attempt, j.worker, j.started_at, r.error
             from unnest($1::uuid[], $2::int4[], $5::text[]) as r (id, attempt, error) join jobs j on j.id = r.id
             where j.id in (select id from requeued)
             on conflict (job_id, attempt) do nothing),
         forgotten_segments as (delete from segments where job_id in (select id from requeued)),
         notified as (select pg_notify($6, string_agg(distinct queue, ',')) from requeued having count(*) > 0)
         select id from requeued, notified",
    )
    .bind(column(requeues, |r| r.fence.job.0))
    .bind(column(requeues, |r| r.fence.attempt))
    .bind(column(requeues, |r| r.is_spent))
    .bind(column(requeues, |r| r.delay.as_secs_f64()))
    .bind(column(requeues, |r| r.error.as_str()))
    .bind(JOBS_QUEUED)
    .bind(column(requeues, |r| r.is_death))
    .fetch_all(db)
    .await
}
