//! Acceptance: upload, job and ticket in one statement, which is one transaction and one round trip.

use sqlx::{PgPool, types::Json};

use crate::{MAX_ATTEMPTS, NewJob, Queue, TicketId};

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
}

impl SubmitError {
    /// What the database said, if it was the database.
    pub const fn database(&self) -> Option<&sqlx::Error> {
        match self {
            Self::QueueFull { .. } => None,
            Self::Database(error) => Some(error),
        }
    }
}

/// Accepts a job, or turns it away when its queue is full. Durable once this returns.
pub async fn submit(db: &PgPool, job: &NewJob, admission: Admission) -> Result<(), SubmitError> {
    let queue = job.parameters.operation().queue();
    let admitted = sqlx::query(
        "with admitted as (
             insert into jobs (id, caller_id, operation, queue, parameters, max_attempts, request_id, traceparent, priority)
             select $1, $2, $3, $4, $5, $6, $7, $8, $9
             where (select count(*) from (select from jobs where queue = $4 and state = 'queued' limit $10) w) < $10
             returning id),
         stored as (
             insert into uploads (job_id, media_type, bytes)
             select id, $11, $12 from admitted where $11 is not null),
         ticket as (
             insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority)
             select $13, $4, convert_to(to_json(id::text)::text, 'UTF8'), 'Pending', 0, $6, now(), $9 from admitted)
         select from admitted",
    )
    .bind(job.id)
    .bind(job.caller_id)
    .bind(job.parameters.operation().name())
    .bind(queue.name())
    .bind(Json(&job.parameters))
    .bind(MAX_ATTEMPTS)
    .bind(&job.request_id)
    .bind(&job.traceparent)
    .bind(i16::from(!job.asynchronous))
    .bind(admission.max_waiting)
    .bind(job.upload.as_ref().map(|u| u.media_type.name()))
    .bind(job.upload.as_ref().map(|u| u.bytes.as_slice()))
    .bind(TicketId::first_of(job.id).text())
    .execute(db)
    .await?;
    if admitted.rows_affected() == 1 {
        Ok(())
    } else {
        Err(SubmitError::QueueFull { queue, max_waiting: admission.max_waiting })
    }
}
