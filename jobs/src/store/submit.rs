//! Submits jobs: one statement inserts any number of jobs.

use std::collections::HashSet;

use sqlx::{PgConnection, types::Json};

use crate::{AdmittedJob, JobId, JobUpload, MAX_ATTEMPTS, UploadObject};

use super::{
    announcements::{JOBS_QUEUED, announce},
    rows::column,
};

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
pub async fn submit(db: &mut PgConnection, jobs: &[AdmittedJob]) -> Result<Vec<Submitted>, sqlx::Error> {
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let mut sorted: Vec<&AdmittedJob> = jobs.iter().collect();
    sorted.sort_unstable_by_key(|admitted| admitted.job.id);
    let is_flushed = jobs.iter().any(|admitted| admitted.job.is_flushed());
    let accepted: HashSet<JobId> = insert(db, &sorted, is_flushed).await?.into_iter().collect();
    let is_accepted = |admitted: &&AdmittedJob| accepted.contains(&admitted.job.id);
    if is_flushed && !accepted.is_empty() {
        let mut queues: Vec<_> = jobs.iter().filter(is_accepted).map(|a| a.job.queue().name()).collect();
        queues.sort_unstable();
        queues.dedup();
        announce(db, JOBS_QUEUED, &queues.join(",")).await;
    }
    let of = |admitted| if is_accepted(&admitted) { Submitted::Accepted } else { Submitted::Exists };
    Ok(jobs.iter().map(of).collect())
}

/// Inserts the rows in the order of `jobs`, which must be sorted by id. If the rows are not flushed, also announces their
/// queues.
async fn insert(
    db: &mut PgConnection,
    jobs: &[&AdmittedJob],
    is_flushed: bool,
) -> Result<Vec<JobId>, sqlx::Error> {
    sqlx::query_scalar(
        "with new as (
             select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::int2[], $6::int8[], $7::jsonb[],
                 $8::text[], $9::bytea[], $10::text[], $11::int8[], $12::bytea[], $13::text[], $14::text[], $15::text[])
                 as new (id, account_id, operation, queue, priority, turn, parameters,
                     media_type, upload, upload_url, upload_bytes, upload_sha256, request_id, traceparent, webhook_url)),
         accepted as (
             insert into jobs (id, account_id, operation, queue, priority, turn, parameters,
                 media_type, upload, upload_url, upload_bytes, upload_sha256, request_id, traceparent, webhook_url,
                 acknowledged, max_attempts)
             select *, priority = 0 or webhook_url is not null, $16 from new
             on conflict (id) do nothing
             returning id, queue),
         announced as (
             select case when not $17 then pg_notify($18, string_agg(distinct queue, ',')) end,
                 case when $17 then set_config('synchronous_commit', 'on', true) end
             from accepted having count(*) > 0)
         select id from accepted, announced",
    )
    .bind(column(jobs, |a| a.job.id.0))
    .bind(column(jobs, |a| a.job.account_id))
    .bind(column(jobs, |a| a.job.parameters.operation().name()))
    .bind(column(jobs, |a| a.job.queue().name()))
    .bind(column(jobs, |a| a.job.priority()))
    .bind(column(jobs, |a| a.turn))
    .bind(column(jobs, |a| Json(&a.job.parameters)))
    .bind(column(jobs, |a| a.job.upload.as_ref().map(|u| u.media_type.name())))
    .bind(column(jobs, |a| a.job.upload.as_ref().and_then(|u| u.row()).map(|bytes| &**bytes)))
    .bind(column(jobs, |a| object(a).map(|object| object.url.as_str())))
    .bind(column(jobs, |a| object(a).map(|object| i64::try_from(object.n_bytes).unwrap_or(i64::MAX))))
    .bind(column(jobs, |a| object(a).map(|object| object.sha256.as_slice())))
    .bind(column(jobs, |a| a.job.request_id.as_str()))
    .bind(column(jobs, |a| a.job.traceparent.as_deref()))
    .bind(column(jobs, |a| a.job.webhook_url.as_deref()))
    .bind(MAX_ATTEMPTS)
    .bind(is_flushed)
    .bind(JOBS_QUEUED)
    .fetch_all(db)
    .await
}

/// The object that has the bytes of a job's upload. `None` if they are in the row.
fn object(admitted: &AdmittedJob) -> Option<&UploadObject> {
    admitted.job.upload.as_ref().and_then(JobUpload::object)
}
