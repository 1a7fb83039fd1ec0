//! Claims jobs. No other statement moves a job from queued to running.

use std::time::Duration;

use serde_json::value::RawValue;
use sqlx::{FromRow as _, PgExecutor, postgres::PgRow, types::Json};
use uuid::Uuid;

use crate::{
    Fence, FreePlaces, JobId, JobUpload, Queue, RecordingUrl, UploadContent, UploadObject,
    places::LARGE_UPLOAD_BYTES,
};

use super::{
    rows::{column, query_over, unreadable},
    sweep::{RunningJob, running},
};

/// A claimed job with everything that its attempt needs.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact about the job")]
pub struct Claimed {
    /// The job's id and the number of this claim.
    pub fence: Fence,
    /// The queue it came from.
    pub queue: Queue,
    /// Whether the job may not be claimed again after this claim.
    pub is_last_attempt: bool,
    /// Whether it may be what kills the workers: two or more have died with it, or lost it.
    pub is_suspect: bool,
    /// The account that owns it.
    pub account_id: Uuid,
    /// JSON of what is to be done.
    pub parameters: Box<RawValue>,
    /// The caller's file, if the work needs one.
    pub upload: Option<JobUpload>,
    /// Where the recording is fetched, if the caller has not sent it.
    pub recording_url: Option<RecordingUrl>,
    /// The id of the request.
    pub request_id: String,
    /// Whether nobody waited for it when it was claimed.
    pub is_asynchronous: bool,
    /// The W3C trace context (`traceparent`) of the request.
    pub traceparent: Option<String>,
    /// Whether the end of the job is announced to a URL.
    pub has_webhook: bool,
    /// How long the job waited, from its acceptance or the end of the pause after a failed attempt.
    pub waited: Duration,
}

#[derive(sqlx::FromRow)]
struct ClaimedRow {
    id: JobId,
    attempt: i32,
    max_attempts: i32,
    is_suspect: bool,
    queue: String,
    account_id: Uuid,
    parameters: Json<Box<RawValue>>,
    request_id: String,
    is_asynchronous: bool,
    traceparent: Option<String>,
    media_type: Option<String>,
    upload: Option<Vec<u8>>,
    upload_url: Option<String>,
    upload_bytes: Option<i64>,
    upload_sha256: Option<Vec<u8>>,
    recording_url: Option<RecordingUrl>,
    has_webhook: bool,
    waited_s: f64,
}

/// An asynchronous job that has waited for this long may be claimed before jobs that callers wait for.
const AGED_AFTER: Duration = Duration::from_secs(60);

/// The share of the claims that take the first asynchronous job if it has waited for [`AGED_AFTER`]. So asynchronous jobs
/// go on when callers keep all workers busy, and most places are still the callers'.
const AGED_SHARE: f64 = 0.25;

/// Which jobs a free place allows, where the column `$large` of `free` says whether large uploads are allowed. `taken` has the accounts
/// that have all their places, and `suspect` the one job that may be what kills workers and may be claimed.
macro_rules! allowed {
    ($large:literal) => {
        concat!(
            "queue = free.queue and ended_at is null and state = 'queued' and run_at <= now() and attempt < max_attempts
                 and (queue, account_id, priority) not in (select queue, account_id, priority from taken)
                 and (free.",
            $large,
            " or recording_url is null and coalesce(upload_bytes, octet_length(upload), 0) <= $9)
                 and (deaths < 2 or id = (select id from suspect))"
        )
    };
}

/// The first asynchronous job of a queue, if it has waited for long enough to be claimed before all others.
macro_rules! aged {
    () => {
        concat!(
            "select * from (
                 select id, queue, priority, turn from jobs where state = 'queued' and id = (
                     select id from (
                         select id, created_at from jobs
                         where free.takes_aged and priority = 0 and ",
            allowed!("with_large_asynchronous"),
            " order by turn, run_at, id limit 1) first
                     where created_at < now() - make_interval(secs => $10))
                 for update skip locked) aged"
        )
    };
}

/// The first `$n` jobs of a queue and a priority.
macro_rules! waiting {
    ($priority:literal, $large:literal, $n:literal) => {
        concat!(
            "select * from (
                 select id, queue, priority, turn from jobs where priority = ",
            $priority,
            " and ",
            allowed!($large),
            " order by turn, run_at, id limit free.",
            $n,
            " for update skip locked) waiting"
        )
    };
}

/// Claims jobs for `worker` that its free places allow. Those that callers wait for are claimed first,
/// and those of one priority in the order of their turns. Now and then, the first asynchronous job is claimed before all
/// others if it has waited for a minute. Jobs that another statement is claiming are skipped. Of suspects, only the first may
/// be claimed, in its turn. It is looked up only if the statement comes across a suspect.
///
/// Whether it looks for an asynchronous job is decided first, because looking reads the rows of jobs that run.
///
/// The update changes no column that an index has, so that it writes no index entry: jobs that run stay in the index of those that
/// wait, and are skipped. They are few, and first in it.
///
/// The statement also inserts how far it has come, for the turns of new jobs ([`submit`](super::submit)). It updates no row
/// for that: it would hold the row until the worker has received its jobs, and all claims would wait for a worker that is
/// stopped.
///
/// What an operator has decided holds from the statement that confirms it: none is claimed of a queue that is paused, or for a worker that
/// is drained. The worker itself hears of it with its next heartbeat ([`Orders`](super::Orders)), and then claims nothing.
///
/// A claim need not be flushed to disk. If a crash of Postgres loses it, the job is queued again. The end of the
/// attempt then finds no such claim and changes nothing.
pub async fn claim(
    db: impl PgExecutor<'_>,
    worker: &str,
    places: &[FreePlaces],
) -> Result<Vec<Claimed>, sqlx::Error> {
    let of_accounts =
        places.iter().flat_map(|free| free.full_accounts.iter().map(|full| (free.queue, *full)));
    let full: Vec<(Queue, (Uuid, bool))> = of_accounts.collect();
    let rows = query_over!(
        query,
        taken {
            1 queue text = column(&full, |(queue, _)| queue.name());
            2 account_id uuid = column(&full, |(_, (account, _))| *account);
            3 priority int2 = column(&full, |(_, (_, asynchronous))| i16::from(!asynchronous));
        }
        free {
            4 queue text = column(places, |free| free.queue.name());
            5 n int8 = column(places, |free| bigint(free.n));
            6 n_asynchronous int8 = column(places, |free| bigint(free.n_asynchronous));
            7 with_large bool = column(places, |free| free.with_large);
            8 with_large_asynchronous bool = column(places, |free| free.with_large_asynchronous);
        },
        "suspect as (
             select id from jobs where deaths >= 2 and ended_at is null and queue = any($12)
                 and state = 'queued' and run_at <= now()
             order by priority desc, turn, run_at, id limit 1 for update skip locked),
         due as (
             select d.* from (
                 select *, n_asynchronous > 0 and random() < $11 as takes_aged from free
                 where queue not in (select queue from queue_modes() where mode = 'paused')
                     and not exists (select from workers where name = $13 and is_draining)) as free
             cross join lateral (
                 (", aged!(), ")
                 union all
                 (", waiting!("1", "with_large", "n"), ")
                 union all
                 (", waiting!("0", "with_large_asynchronous", "n_asynchronous"), ")
                 limit free.n) d),
         reached as (
             insert into claimed_turns (queue, priority, turn)
             select queue, priority, max(turn) from due group by queue, priority)
         update jobs j set state = 'running', attempt = attempt + 1, worker = $13, started_at = now(),
             transcribed_s = null
         from due where j.id = due.id
         returning j.id, j.attempt, j.max_attempts, j.deaths >= 2 as is_suspect, j.queue, j.account_id,
             j.parameters, j.request_id, j.priority = 0 as is_asynchronous, j.traceparent, j.media_type,
             j.upload, j.upload_url, j.upload_bytes, j.upload_sha256, j.recording_url,
             j.webhook_url is not null as has_webhook,
             extract(epoch from now() - greatest(j.created_at, j.run_at))::float8 as waited_s,
             set_config('synchronous_commit', 'off', true)",
    )
    .bind(i64::try_from(LARGE_UPLOAD_BYTES).unwrap_or(i64::MAX))
    .bind(AGED_AFTER.as_secs_f64())
    .bind(AGED_SHARE)
    .bind(places.iter().filter(|free| free.with_suspect).map(|free| free.queue.name()).collect::<Vec<_>>())
    .bind(worker)
    .fetch_all(db)
    .await?;
    // A row that this version cannot read is left out, so that the other jobs are still attempted. Its job stays
    // claimed, is returned to its queue as lost, and fails in the end.
    let read = |row: &PgRow| match ClaimedRow::from_row(row).and_then(|row| row.into_claimed(places)) {
        Ok(claimed) => Some(claimed),
        Err(error) => {
            tracing::error!(%error, "cannot read a claimed job");
            None
        }
    };
    Ok(rows.iter().filter_map(read).collect())
}

fn bigint(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The jobs that run for `worker`.
pub async fn claimed_by(db: impl PgExecutor<'_>, worker: &str) -> Result<Vec<RunningJob>, sqlx::Error> {
    sqlx::query_as(concat!("select ", running!(), " from running_jobs() j where j.worker = $1"))
        .bind(worker)
        .fetch_all(db)
        .await
}

impl Claimed {
    /// Whether the recording may have more than 1 MiB. One that is not fetched yet may have any size.
    pub(crate) fn is_large(&self) -> bool {
        self.recording_url.is_some() || self.upload.as_ref().is_some_and(JobUpload::is_large)
    }
}

impl ClaimedRow {
    fn into_claimed(self, places: &[FreePlaces]) -> Result<Claimed, sqlx::Error> {
        let content = match (self.upload, self.upload_url) {
            (Some(bytes), _) => Some(UploadContent::Row(bytes.into())),
            (None, Some(url)) => {
                let n_bytes = self.upload_bytes.and_then(|n| u64::try_from(n).ok());
                let n_bytes = n_bytes.ok_or_else(|| unreadable("size of the upload", &url))?;
                let sha256 = self.upload_sha256.map(TryInto::try_into).transpose();
                let sha256 = sha256.map_err(|_| unreadable("SHA-256 of the upload", &url))?;
                Some(UploadContent::Object(UploadObject { url, n_bytes, sha256 }))
            }
            (None, None) => None,
        };
        let upload = match (self.media_type, content) {
            (Some(media_type), Some(content)) => Some(JobUpload { media_type, content }),
            _ => None,
        };
        let queue = places.iter().map(|free| free.queue).find(|queue| queue.name() == self.queue);
        Ok(Claimed {
            fence: Fence { job: self.id, attempt: self.attempt },
            queue: queue.ok_or_else(|| unreadable("queue", &self.queue))?,
            is_last_attempt: self.attempt >= self.max_attempts,
            is_suspect: self.is_suspect,
            account_id: self.account_id,
            parameters: self.parameters.0,
            upload,
            recording_url: self.recording_url,
            request_id: self.request_id,
            is_asynchronous: self.is_asynchronous,
            traceparent: self.traceparent,
            has_webhook: self.has_webhook,
            waited: Duration::try_from_secs_f64(self.waited_s).unwrap_or_default(),
        })
    }
}
