//! Submits jobs: one statement inserts any number of jobs and announces their queues.

use std::collections::HashSet;

use sqlx::{PgExecutor, types::Json};

use crate::{JobId, MAX_ATTEMPTS, NewJob};

use super::column;

/// The result of submitting a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submitted {
    /// The job was inserted and waits in its queue.
    Accepted,
    /// A job with this id exists already. It was not changed.
    Exists,
}

/// Inserts jobs and announces their queues. Returns one result for each job, in order. If at least one of the
/// inserted jobs is asynchronous, all of them are on disk when this returns.
pub async fn submit(db: impl PgExecutor<'_>, jobs: &[&NewJob]) -> Result<Vec<Submitted>, sqlx::Error> {
    let accepted: HashSet<JobId> = insert(db, jobs).await?.into_iter().collect();
    let of = |job: &&NewJob| {
        if accepted.contains(&job.id) { Submitted::Accepted } else { Submitted::Exists }
    };
    Ok(jobs.iter().map(of).collect())
}

async fn insert(db: impl PgExecutor<'_>, jobs: &[&NewJob]) -> Result<Vec<JobId>, sqlx::Error> {
    sqlx::query_scalar(
        "with accepted as (
             insert into jobs (id, account_id, operation, queue, priority, acknowledged, parameters,
                 max_attempts, media_type, upload, request_id, traceparent)
             select id, account_id, operation, queue, priority, priority = 0, parameters,
                 $11, media_type, upload, request_id, traceparent
             from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::int2[], $6::jsonb[], $7::text[],
                 $8::bytea[], $9::text[], $10::text[])
                 as new (id, account_id, operation, queue, priority, parameters, media_type,
                     upload, request_id, traceparent)
             on conflict (id) do nothing
             returning id, queue, acknowledged),
         notified as (
             select pg_notify($12, string_agg(distinct queue, ',')),
                 case when bool_or(acknowledged) then set_config('synchronous_commit', 'on', true) end
             from accepted having count(*) > 0)
         select id from accepted, notified",
    )
    .bind(column(jobs, |job| job.id.0))
    .bind(column(jobs, |job| job.account_id))
    .bind(column(jobs, |job| job.parameters.operation().name()))
    .bind(column(jobs, |job| job.parameters.operation().queue().name()))
    .bind(column(jobs, |job| i16::from(!job.asynchronous)))
    .bind(column(jobs, |job| Json(&job.parameters)))
    .bind(column(jobs, |job| job.upload.as_ref().map(|u| u.media_type.name())))
    .bind(column(jobs, |job| job.upload.as_ref().map(|u| &*u.bytes)))
    .bind(column(jobs, |job| job.request_id.as_str()))
    .bind(column(jobs, |job| job.traceparent.as_deref()))
    .bind(MAX_ATTEMPTS)
    .bind(super::JOBS_QUEUED)
    .fetch_all(db)
    .await
}
