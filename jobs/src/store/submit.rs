//! Acceptance: upload, job and ticket in one transaction, or none of them.

use apalis_core::task::{builder::TaskBuilder, task_id::TaskId};
use apalis_postgres::{PgTask, queries::push_tasks};
use sqlx::{PgConnection, PgPool};
use std::time::{Duration, SystemTime};

use crate::{JobId, MAX_ATTEMPTS, NewJob, Queue, TicketId};

/// How far back tickets are dated. Ticket times are whole seconds of this machine's clock while the
/// queue's insert trigger compares them with Postgres's; a ticket even slightly in the future is not
/// announced and would wait for the poll.
const TICKET_BACKDATE: Duration = Duration::from_secs(5);

/// How much may wait before new work is turned away.
#[derive(Debug, Clone, Copy)]
pub struct Admission {
    /// Jobs that may wait in one queue.
    pub max_waiting: i64,
}

/// Why a job was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// As many jobs wait as may.
    #[error("{n} jobs wait in the {queue} queue, as many as may", n = .max_waiting, queue = .queue.name())]
    QueueFull {
        /// The queue.
        queue: Queue,
        /// Its bound.
        max_waiting: i64,
    },
    /// The database refused or went away; the job may or may not exist.
    #[error("database: {0}")]
    Database(#[from] sqlx::Error),
    /// The queue did not take the ticket; the job does not exist.
    #[error("queue: {0}")]
    Queue(#[from] apalis_postgres::Error),
}

impl SubmitError {
    /// The database's part in it, if it had one.
    pub fn database(&self) -> Option<&sqlx::Error> {
        match self {
            Self::Database(e) | Self::Queue(apalis_postgres::Error::Database(e)) => Some(e),
            Self::Queue(_) | Self::QueueFull { .. } => None,
        }
    }
}

/// Accepts a job, or turns it away when its queue is full. Durable once this returns.
pub async fn submit(db: &PgPool, job: &NewJob, admission: Admission) -> Result<(), SubmitError> {
    let queue = job.parameters.operation().queue();
    let mut tx = db.begin().await?;
    if !insert(&mut tx, job, queue, admission).await? {
        return Err(SubmitError::QueueFull { queue, max_waiting: admission.max_waiting });
    }
    push(&mut tx, queue, TicketId::first_of(job.id), job.id, Duration::ZERO, priority(job)).await?;
    tx.commit().await?;
    Ok(())
}

/// Jobs somebody holds a connection open for come first.
fn priority(job: &NewJob) -> i16 {
    i16::from(!job.asynchronous)
}

/// Inserts job and upload unless the queue is full; whether it did.
async fn insert(
    tx: &mut PgConnection,
    job: &NewJob,
    queue: Queue,
    admission: Admission,
) -> Result<bool, sqlx::Error> {
    let n = sqlx::query(
        "with admitted as (
             insert into jobs (id, caller_id, operation, queue, parameters, max_attempts, request_id, traceparent, priority)
             select $1, $2, $3, $4, $5, $6, $7, $8, $12
             where (select count(*) from (select 1 from jobs where queue = $4 and state = 'queued' limit $9) w) < $9
             returning id),
         stored as (
             insert into uploads (job_id, media_type, bytes)
             select id, $10, $11 from admitted where $10 is not null)
         select 1 from admitted",
    )
    .bind(job.id)
    .bind(job.caller_id)
    .bind(job.parameters.operation().name())
    .bind(queue.name())
    .bind(sqlx::types::Json(&job.parameters))
    .bind(MAX_ATTEMPTS)
    .bind(&job.request_id)
    .bind(&job.traceparent)
    .bind(admission.max_waiting)
    .bind(job.upload.as_ref().map(|u| u.media_type.name()))
    .bind(job.upload.as_ref().map(|u| u.bytes.as_slice()))
    .bind(priority(job))
    .execute(tx)
    .await?
    .rows_affected();
    Ok(n == 1)
}

/// Puts a ticket for a job into its queue, to be delivered after `delay`.
pub(super) async fn push(
    tx: &mut PgConnection,
    queue: Queue,
    ticket: TicketId,
    job: JobId,
    delay: Duration,
    priority: i16,
) -> Result<(), apalis_postgres::Error> {
    // An id serialises into a JSON string; it cannot fail.
    let payload = format!("\"{job}\"").into_bytes();
    let task: PgTask = TaskBuilder::new(payload)
        .task_id(TaskId::from_ulid(ticket.0))
        .run_at_time(SystemTime::now() - TICKET_BACKDATE + delay)
        .priority(priority.unsigned_abs().into())
        .build();
    push_tasks(tx, queue.name(), vec![task]).await
}
