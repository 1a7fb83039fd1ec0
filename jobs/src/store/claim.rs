//! Jobs are claimed: the one step from queued to running.

use sqlx::{FromRow as _, PgExecutor, postgres::PgRow, types::Json};
use uuid::Uuid;

use crate::{Fence, JobId, MediaType, Parameters, Queue, Upload};

use super::unreadable;

/// A claimed job with all that its attempt needs.
#[derive(Debug, Clone)]
pub struct Claimed {
    /// The job and the number of this claim.
    pub fence: Fence,
    /// The queue it came from.
    pub queue: Queue,
    /// No further claim after this one.
    pub is_last_attempt: bool,
    /// The account that owns it.
    pub account_id: Uuid,
    /// What to do.
    pub parameters: Parameters,
    /// What to do it on.
    pub upload: Option<Upload>,
    /// The request that asked for it.
    pub request_id: String,
    /// Its W3C trace context.
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

/// Claims for `worker` at most so many jobs of each queue as given, the most urgent first: by priority,
/// then by how long they have been due. Claimed jobs of others are skipped, not waited for.
///
/// A claim need not be on disk: if a crash of Postgres forgets it, the job is queued again, and the end of
/// the attempt, finding no such claim, changes nothing.
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
    // One row that this version cannot read must not cost the others their attempt. It stays claimed, is given
    // back as lost, and fails when its attempts are spent.
    let read = |row: &PgRow| match ClaimedRow::from_row(row).and_then(ClaimedRow::into_claimed) {
        Ok(claimed) => Some(claimed),
        Err(error) => {
            tracing::error!(%error, "a claimed job cannot be read");
            None
        }
    };
    Ok(rows.iter().filter_map(read).collect())
}

/// What runs in `worker`'s name, each with whether that is its last attempt.
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
