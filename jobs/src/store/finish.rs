//! A job leaves its worker's hands, or its caller takes it back: one guarded statement each.

use sqlx::{PgPool, types::Json};
use std::time::Duration;
use uuid::Uuid;

use crate::{JobId, JobState, Outcome, TicketId, Timing};

use super::{JOB_ENDED, artifacts};

/// Writes a job's outcome and its artifacts if this attempt still holds it, drops upload and ticket, and
/// announces the end, in one statement. `false`: another attempt holds the job, and nothing was changed.
pub async fn finish(
    db: &PgPool,
    job: JobId,
    attempt: i32,
    ticket: TicketId,
    outcome: &Outcome,
    timing: Timing,
    error: Option<&str>,
) -> Result<bool, sqlx::Error> {
    let state = if outcome.is_answer() { JobState::Succeeded } else { JobState::Failed };
    let (names, artifacts) = artifacts::of(outcome);
    let ended = sqlx::query(
        "with ended as (
             update jobs set state = $3, outcome = $4, worker = null, ended_at = now(),
                 decode_us = $5, infer_us = $6, last_error = coalesce($7, last_error)
             where id = $1 and state = 'running' and attempt = $2
             returning id),
         upload as (delete from uploads u using ended where u.job_id = ended.id),
         kept as (
             insert into artifacts (job_id, name, bytes)
             select ended.id, made.name, made.bytes from ended, unnest($10::text[], $11::bytea[]) made (name, bytes)),
         ticket as (delete from apalis.jobs t where t.id = $8 and exists (select from ended))
         select pg_notify($9, id::text) from ended",
    )
    .bind(job)
    .bind(attempt)
    .bind(state.name())
    .bind(Json(outcome))
    .bind(timing.decode_us)
    .bind(timing.infer_us)
    .bind(error)
    .bind(ticket.text())
    .bind(JOB_ENDED)
    .bind(names)
    .bind(artifacts)
    .fetch_optional(db)
    .await?;
    Ok(ended.is_some())
}

/// Returns a job to its queue, to be delivered again after `delay`, if this attempt still holds it.
pub async fn retry(
    db: &PgPool,
    job: JobId,
    attempt: i32,
    ticket: TicketId,
    delay: Duration,
    error: &str,
) -> Result<bool, sqlx::Error> {
    let freed = sqlx::query(
        "with freed as (
             update jobs set state = 'queued', worker = null, last_error = $3
             where id = $1 and state = 'running' and attempt = $2
             returning id, queue, priority, max_attempts),
         spent as (delete from apalis.jobs t where t.id = $4),
         ticket as (
             insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority)
             select $5, queue, convert_to(to_json(id::text)::text, 'UTF8'), 'Pending', 0, max_attempts,
                 now() + make_interval(secs => $6), priority
             from freed)
         select from freed",
    )
    .bind(job)
    .bind(attempt)
    .bind(error)
    .bind(ticket.text())
    .bind(TicketId::fresh().text())
    .bind(delay.as_secs_f64())
    .execute(db)
    .await?;
    Ok(freed.rows_affected() == 1)
}

/// Cancels a caller's job that no worker has taken. `false`: it is running, over or not theirs.
pub async fn cancel(db: &PgPool, job: JobId, caller_id: Uuid) -> Result<bool, sqlx::Error> {
    let cancelled = sqlx::query(
        "with ended as (
             update jobs set state = 'cancelled', ended_at = now()
             where id = $1 and caller_id = $2 and state = 'queued'
             returning id),
         upload as (delete from uploads u using ended where u.job_id = ended.id),
         ticket as (delete from apalis.jobs t where t.id = $3 and exists (select from ended))
         select pg_notify($4, id::text) from ended",
    )
    .bind(job)
    .bind(caller_id)
    .bind(TicketId::first_of(job).text())
    .bind(JOB_ENDED)
    .fetch_optional(db)
    .await?;
    Ok(cancelled.is_some())
}
