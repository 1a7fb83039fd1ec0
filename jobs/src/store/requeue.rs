//! Jobs wait again: the one step from running back to queued, whoever takes it.

use std::{collections::HashSet, time::Duration};

use sqlx::PgExecutor;

use crate::{Fence, JobId};

use super::{JOBS_QUEUED, column};

/// A claimed job that goes back to its queue.
#[derive(Debug, Clone)]
pub struct Requeue {
    /// The claim that is given up; another claim's job is left alone.
    pub fence: Fence,
    /// How long it is not to be claimed.
    pub delay: Duration,
    /// Why, for operators.
    pub error: String,
}

/// Returns jobs to their queues if their claims still hold them; one result a job, in order.
pub async fn requeue(db: impl PgExecutor<'_>, requeues: &[Requeue]) -> Result<Vec<bool>, sqlx::Error> {
    let waiting: HashSet<JobId> = update(db, requeues).await?.into_iter().collect();
    Ok(requeues.iter().map(|r| waiting.contains(&r.fence.job)).collect())
}

async fn update(db: impl PgExecutor<'_>, requeues: &[Requeue]) -> Result<Vec<JobId>, sqlx::Error> {
    sqlx::query_scalar(
        "with waiting as (
             update jobs j set state = 'queued', worker = null, last_error = r.error,
                 run_at = now() + make_interval(secs => r.delay_s)
             from unnest($1::uuid[], $2::int4[], $3::float8[], $4::text[]) as r (id, attempt, delay_s, error)
             where j.id = r.id and j.state = 'running' and j.attempt = r.attempt
             returning j.id, j.queue),
         told as (select pg_notify($5, string_agg(distinct queue, ',')) from waiting having count(*) > 0)
         select id from waiting, told",
    )
    .bind(column(requeues, |r| r.fence.job.0))
    .bind(column(requeues, |r| r.fence.attempt))
    .bind(column(requeues, |r| r.delay.as_secs_f64()))
    .bind(column(requeues, |r| r.error.as_str()))
    .bind(JOBS_QUEUED)
    .fetch_all(db)
    .await
}
