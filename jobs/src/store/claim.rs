//! Claims jobs. No other statement moves a job from queued to running.

use sqlx::{FromRow as _, PgExecutor, postgres::PgRow, types::Json};
use uuid::Uuid;

use crate::{Fence, JobId, MediaType, Parameters, Queue, Upload};

use super::unreadable;

/// A claimed job with everything that its attempt needs.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The job's id and the number of this claim.
    pub fence: Fence,
    /// The queue it came from.
    pub queue: Queue,
    /// Whether the job may not be claimed again after this claim.
    pub is_last_attempt: bool,
    /// The account that owns it.
    pub account_id: Uuid,
    /// The operation and its parameters.
    pub parameters: Parameters,
    /// The caller's file, if the operation takes one.
    pub upload: Option<Upload>,
    /// The id of the request.
    pub request_id: String,
    /// The W3C trace context (`traceparent`) of the request.
    pub traceparent: Option<String>,
}

#[derive(sqlx::FromRow)]
struct ClaimedRow {
    id: JobId,
    attempt: i32,
    max_attempts: i32,
    queue: String,
    account_id: Uuid,
    parameters: Json<Parameters>,
    request_id: String,
    traceparent: Option<String>,
    media_type: Option<String>,
    upload: Option<Vec<u8>>,
}

/// Claims jobs for `worker`: at most the given number from each queue. Jobs with higher priority are claimed first,
/// and among those of one priority the job that has been due longest. Jobs that another statement is claiming are
/// skipped.
///
/// A claim need not be flushed to disk. If a crash of Postgres loses it, the job is queued again. The end of the
/// attempt then finds no such claim and changes nothing.
pub async fn claim(
    db: impl PgExecutor<'_>,
    worker: &str,
    places: &[(Queue, usize)],
) -> Result<Vec<Claimed>, sqlx::Error> {
    let queues: Vec<&str> = places.iter().map(|(queue, _)| queue.name()).collect();
    let limits: Vec<i64> = places.iter().map(|(_, n)| i64::try_from(*n).unwrap_or(i64::MAX)).collect();
    let rows = sqlx::query(
        "with due as (
             select d.id from unnest($1::text[], $2::int8[]) as free (queue, n)
             cross join lateral (
                 select id from jobs
                 where queue = free.queue and state = 'queued' and run_at <= now() and attempt < max_attempts
                 order by priority desc, run_at, id limit free.n for update skip locked) d)
         update jobs j set state = 'running', attempt = attempt + 1, worker = $3, started_at = now()
         from due where j.id = due.id
         returning j.id, j.attempt, j.max_attempts, j.queue, j.account_id, j.parameters, j.request_id,
             j.traceparent, j.media_type, j.upload",
    )
    .bind(queues)
    .bind(limits)
    .bind(worker)
    .fetch_all(db)
    .await?;
    // A row that this version cannot read is left out, so that the other jobs are still attempted. Its job stays
    // claimed, is returned to its queue as lost, and fails after its last attempt.
    let read = |row: &PgRow| match ClaimedRow::from_row(row).and_then(ClaimedRow::into_claimed) {
        Ok(claimed) => Some(claimed),
        Err(error) => {
            tracing::error!(%error, "cannot read a claimed job");
            None
        }
    };
    Ok(rows.iter().filter_map(read).collect())
}

/// The jobs that run for `worker`. The `bool` says whether the attempt is the job's last.
pub async fn claimed_by(db: impl PgExecutor<'_>, worker: &str) -> Result<Vec<(Fence, bool)>, sqlx::Error> {
    let rows: Vec<(JobId, i32, bool)> = sqlx::query_as(
        "select id, attempt, attempt >= max_attempts from jobs where state = 'running' and worker = $1",
    )
    .bind(worker)
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(|(job, attempt, is_last)| (Fence { job, attempt }, is_last)).collect())
}

impl ClaimedRow {
    fn into_claimed(self) -> Result<Claimed, sqlx::Error> {
        let upload = match (self.media_type, self.upload) {
            (Some(name), Some(bytes)) => {
                let media_type =
                    MediaType::from_name(&name).ok_or_else(|| unreadable("media type", &name))?;
                Some(Upload { media_type, bytes: bytes.into() })
            }
            _ => None,
        };
        Ok(Claimed {
            fence: Fence { job: self.id, attempt: self.attempt },
            queue: Queue::from_name(&self.queue).ok_or_else(|| unreadable("queue", &self.queue))?,
            is_last_attempt: self.attempt >= self.max_attempts,
            account_id: self.account_id,
            parameters: self.parameters.0,
            upload,
            request_id: self.request_id,
            traceparent: self.traceparent,
        })
    }
}
