//! Submits jobs: one statement inserts any number of jobs and announces their queues.

use std::collections::HashSet;

use sqlx::{PgExecutor, types::Json};

use crate::{AdmittedJob, JobId, MAX_ATTEMPTS};

use super::column;

/// The result of submitting a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submitted {
    /// The job was inserted and waits in its queue.
    Accepted,
    /// A job with this id exists already. It was not changed.
    Exists,
}

/// Inserts jobs and announces their queues. Returns one result for each job, in order. If at least one of the jobs must
/// be flushed (see [`NewJob::is_flushed`](crate::NewJob::is_flushed)), all of them are on disk when this returns.
pub async fn submit(db: impl PgExecutor<'_>, jobs: &[AdmittedJob]) -> Result<Vec<Submitted>, sqlx::Error> {
    let mut sorted: Vec<&AdmittedJob> = jobs.iter().collect();
    sorted.sort_unstable_by_key(|admitted| admitted.job.id);
    let accepted: HashSet<JobId> = insert(db, &sorted).await?.into_iter().collect();
    let of = |admitted: &AdmittedJob| {
        if accepted.contains(&admitted.job.id) { Submitted::Accepted } else { Submitted::Exists }
    };
    Ok(jobs.iter().map(of).collect())
}

/// Inserts the rows in the order of `jobs`, which must be sorted by id.
async fn insert(db: impl PgExecutor<'_>, jobs: &[&AdmittedJob]) -> Result<Vec<JobId>, sqlx::Error> {
    sqlx::query_scalar(
        "with accepted as (
             insert into jobs (id, account_id, operation, queue, priority, acknowledged, turn, parameters,
                 max_attempts, media_type, upload, request_id, traceparent)
             select id, account_id, operation, queue, priority, priority = 0, turn, parameters,
                 $12, media_type, upload, request_id, traceparent
             from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::int2[], $6::int8[], $7::jsonb[],
                 $8::text[], $9::bytea[], $10::text[], $11::text[])
                 as new (id, account_id, operation, queue, priority, turn, parameters, media_type,
                     upload, request_id, traceparent)
             on conflict (id) do nothing
             returning id, queue),
         notified as (
             select pg_notify($13, string_agg(distinct queue, ',')),
                 case when $14 then set_config('synchronous_commit', 'on', true) end
             from accepted having count(*) > 0)
         select id from accepted, notified",
    )
    .bind(column(jobs, |a| a.job.id.0))
    .bind(column(jobs, |a| a.job.account_id))
    .bind(column(jobs, |a| a.job.parameters.operation().name()))
    .bind(column(jobs, |a| a.job.queue().name()))
    .bind(column(jobs, |a| a.job.priority()))
    .bind(column(jobs, |a| a.turn))
    .bind(column(jobs, |a| Json(&a.job.parameters)))
    .bind(column(jobs, |a| a.job.upload.as_ref().map(|u| u.media_type.name())))
    .bind(column(jobs, |a| a.job.upload.as_ref().map(|u| &*u.bytes)))
    .bind(column(jobs, |a| a.job.request_id.as_str()))
    .bind(column(jobs, |a| a.job.traceparent.as_deref()))
    .bind(MAX_ATTEMPTS)
    .bind(super::JOBS_QUEUED)
    .bind(jobs.iter().any(|a| a.job.is_flushed()))
    .fetch_all(db)
    .await
}
