//! Submits jobs: one statement inserts any number of jobs.

use std::collections::HashSet;

use akhar_platform::database::transaction;
use sqlx::{PgConnection, types::Json};

use crate::{JobId, JobUpload, MAX_ATTEMPTS, NewJob, RecordingUrl, UploadObject};

use super::{
    announcements::{JOBS_QUEUED, announce},
    groups::{OfJob, open_groups},
    reserved_uploads::use_reserved_uploads,
    rows::{column, query_over, rare_column},
    submissions::wait_for_submissions,
};

/// The result of submitting a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Submitted {
    /// The job was inserted and waits in its queue.
    Accepted,
    /// A job with this id exists already and was not changed, or its account is erased.
    Exists,
}

/// Inserts jobs with the next turns of their accounts, and announces their queues. Returns one result for each job, in
/// order. If at least one of the jobs must be flushed (see [`NewJob::is_flushed`]), all of them are on disk when this
/// returns.
///
/// Jobs of one priority are claimed in the order of their turns. This is self-clocked fair queuing (Golestani, *A
/// self-clocked fair queueing scheme for broadband applications*, INFOCOM 1994) with jobs of equal length: an account's next
/// job gets the turn after its last waiting one, or if that is higher, after the highest turn that was claimed (the table
/// `claimed_turns`). So an account that had nothing waiting waits for at most two jobs of each other one. The database gives
/// the turns (the function `next_turns`), so that all processes give the same.
pub async fn submit(db: &mut PgConnection, jobs: &[&NewJob]) -> Result<Vec<Submitted>, sqlx::Error> {
    if jobs.is_empty() {
        return Ok(Vec::new());
    }
    let mut sorted = jobs.to_vec();
    sorted.sort_unstable_by_key(|job| job.id);
    let is_flushed = jobs.iter().any(|job| job.is_flushed());
    let accepted: HashSet<JobId> =
        if jobs.iter().any(|job| job.reserved_upload.is_some() || job.group.is_some()) {
            insert_with_others(db, sorted, is_flushed).await?
        } else {
            insert(db, &sorted, is_flushed).await?
        }
        .into_iter()
        .collect();
    let is_accepted = |job: &&&NewJob| accepted.contains(&job.id);
    if is_flushed && !accepted.is_empty() {
        let mut queues: Vec<_> = jobs.iter().filter(is_accepted).map(|job| job.queue().name()).collect();
        queues.sort_unstable();
        queues.dedup();
        announce(db, JOBS_QUEUED, &queues.join(",")).await;
    }
    let of = |job| if is_accepted(&job) { Submitted::Accepted } else { Submitted::Exists };
    Ok(jobs.iter().map(of).collect())
}

/// Inserts jobs with what belongs to them in other tables: their reserved uploads and their groups. Inserts none whose upload another
/// job has, or its own earlier submission.
async fn insert_with_others(
    db: &mut PgConnection,
    mut jobs: Vec<&NewJob>,
    is_flushed: bool,
) -> Result<Vec<JobId>, sqlx::Error> {
    transaction(db, async |db: &mut PgConnection| {
        if jobs.iter().any(|job| job.reserved_upload.is_some()) {
            let have_upload = use_reserved_uploads(db, &jobs).await?;
            jobs.retain(|job| job.reserved_upload.is_none() || have_upload.contains(&job.id));
        }
        let accepted = insert(db, &jobs, is_flushed).await?;
        let groups: Vec<_> =
            jobs.iter().filter(|job| accepted.contains(&job.id)).filter_map(|job| group(job)).collect();
        open_groups(db, groups).await?;
        Ok(accepted)
    })
    .await
}

fn group(job: &NewJob) -> Option<OfJob<'_>> {
    Some((job.account_id, job.group.as_ref()?.as_str(), job.group_webhook_url.as_deref()))
}

/// Which of these jobs were submitted. Another process, or a connection that was lost, may be submitting one of them at this
/// time: the statements that submit jobs of the same accounts end before the rows are read.
pub async fn submitted(db: &mut PgConnection, jobs: &[&NewJob]) -> Result<HashSet<JobId>, sqlx::Error> {
    if jobs.is_empty() {
        return Ok(HashSet::new());
    }
    let of_accounts: Vec<_> = jobs.iter().map(|job| (job.queue(), job.account_id)).collect();
    wait_for_submissions(db, &of_accounts).await?;
    let submitted = sqlx::query_scalar("select id from jobs where id = any($1)");
    Ok(submitted.bind(column(jobs, |job| job.id.0)).fetch_all(db).await?.into_iter().collect())
}

/// Inserts the rows in the order of `jobs`, which must be sorted by id, and announces their queues unless they must be flushed first.
///
/// `next_turns` gives a turn for each place of its arrays, in their order, and keeps the accounts' turns locked until the
/// commit; a job that exists already uses up its turn, and one of an erased account gets none. An asynchronous job (priority 0), and one with a webhook, is
/// acknowledged from the start.
async fn insert(
    db: &mut PgConnection,
    jobs: &[&NewJob],
    is_flushed: bool,
) -> Result<Vec<JobId>, sqlx::Error> {
    query_over!(
        query_scalar,
        new {
            1 id uuid = column(jobs, |job| job.id.0);
            2 account_id uuid = column(jobs, |job| job.account_id);
            3 operation text = column(jobs, |job| job.work.operation);
            4 queue text = column(jobs, |job| job.queue().name());
            5 priority int2 = column(jobs, |job| job.priority());
            6 parameters jsonb = column(jobs, |job| Json(&job.work.parameters));
            7 media_type text = rare_column(jobs, |job| job.upload.as_ref().map(|u| u.media_type.as_str()));
            8 upload bytea = rare_column(jobs, |job| job.upload.as_ref().and_then(|u| u.row()).map(|bytes| &**bytes));
            9 upload_url text = rare_column(jobs, |job| object(job).map(|o| o.url.as_str()));
            10 upload_bytes int8 = rare_column(jobs, |job| object(job).map(|o| i64::try_from(o.n_bytes).unwrap_or(i64::MAX)));
            11 upload_sha256 bytea = rare_column(jobs, |job| object(job)?.sha256.as_ref().map(<[u8; 32]>::as_slice));
            12 request_id text = column(jobs, |job| job.request_id.as_str());
            13 traceparent text = rare_column(jobs, |job| job.traceparent.as_deref());
            14 webhook_url text = rare_column(jobs, |job| job.webhook_url.as_deref());
            15 retain_s int4 = rare_column(jobs, |job| job.retain_s);
            16 group_name text = rare_column(jobs, |job| job.group.as_ref());
            17 labels jsonb = rare_column(jobs, |job| (!job.labels.is_empty()).then_some(Json(&job.labels)));
            18 recording_url text = rare_column(jobs, |job| job.recording_url.as_ref().map(RecordingUrl::as_str));
            computed "unnest(next_turns($4, $5, $2)) as turn"
        },
        "accepted as (
             insert into jobs (id, account_id, operation, queue, priority, parameters,
                 media_type, upload, upload_url, upload_bytes, upload_sha256, request_id, traceparent, webhook_url, retain_s,
                 group_name, labels, recording_url, turn, acknowledged, max_attempts)
             select *, priority = 0 or webhook_url is not null, $19 from new where turn is not null
             on conflict (id) do nothing
             returning id, queue),
         -- If no job must be flushed, the commit does not wait for the disk, and the queues are announced with it.
         announced as (
             select case when not $20 then pg_notify($21, string_agg(distinct queue, ',')) end,
                 case when not $20 then set_config('synchronous_commit', 'off', true) end
             from accepted having count(*) > 0)
         -- Postgres executes `announced` because it is joined.
         select id from accepted, announced",
    )
    .bind(MAX_ATTEMPTS)
    .bind(is_flushed)
    .bind(JOBS_QUEUED)
    .fetch_all(db)
    .await
}

/// The object that has the bytes of a job's upload. `None` if they are in the row.
fn object(job: &NewJob) -> Option<&UploadObject> {
    job.upload.as_ref().and_then(JobUpload::object)
}
