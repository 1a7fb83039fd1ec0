//! Jobs end: the one step to a final state, whoever takes it.

use std::collections::HashSet;

use sqlx::{PgExecutor, types::Json};
use uuid::Uuid;

use crate::{Fence, JobId, JobState, Outcome, Timing};

use super::{JOBS_ENDED, artifacts, column};

/// What must be true of a job for its end to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// This claim still holds it.
    Claimed(Fence),
    /// It is queued and belongs to this account.
    Queued {
        /// The job.
        job: JobId,
        /// Its owner.
        account_id: Uuid,
    },
}

/// How a job ends.
#[derive(Debug, Clone)]
pub struct Ending {
    /// When it may end so.
    pub guard: Guard,
    /// What its caller gets; none for a cancelled job.
    pub outcome: Option<Outcome>,
    /// Where its last attempt's time went.
    pub timing: Option<Timing>,
    /// Why its last attempt failed, for operators.
    pub error: Option<String>,
}

impl Ending {
    const fn job(&self) -> JobId {
        match self.guard {
            Guard::Claimed(fence) => fence.job,
            Guard::Queued { job, .. } => job,
        }
    }

    const fn state(&self) -> JobState {
        match &self.outcome {
            Some(outcome) if outcome.is_answer() => JobState::Succeeded,
            Some(_) => JobState::Failed,
            None => JobState::Cancelled,
        }
    }
}

/// Ends the jobs whose guards hold: outcome and artifacts are written, the upload is deleted, and the ends
/// announced (see [`super::ended`]), in one statement for at most [`super::MAX_ENDINGS`]. One result a job, in
/// order: `false` means that its guard did not hold and nothing was changed. When a job among them is
/// acknowledged, all are on disk when this returns.
pub async fn end(db: impl PgExecutor<'_>, endings: &[Ending]) -> Result<Vec<bool>, sqlx::Error> {
    let ended: HashSet<JobId> = update(db, endings).await?.into_iter().collect();
    Ok(endings.iter().map(|ending| ended.contains(&ending.job())).collect())
}

async fn update(db: impl PgExecutor<'_>, endings: &[Ending]) -> Result<Vec<JobId>, sqlx::Error> {
    let bulk = artifacts::of(endings.iter().map(|e| (e.job(), e.outcome.as_ref())));
    sqlx::query_scalar(
        "with ended as (
             update jobs j set state = e.state, outcome = e.outcome, worker = null, ended_at = now(),
                 media_type = null, upload = null, decode_us = e.decode_us, infer_us = e.infer_us,
                 last_error = coalesce(e.error, j.last_error)
             from unnest($1::uuid[], $2::int4[], $3::uuid[], $4::text[], $5::jsonb[], $6::int4[], $7::int4[], $8::text[])
                 as e (id, attempt, account_id, state, outcome, decode_us, infer_us, error)
             where j.id = e.id and case when e.attempt is null
                 then j.state = 'queued' and j.account_id = e.account_id
                 else j.state = 'running' and j.attempt = e.attempt end
             returning j.id, j.operation, j.state, j.attempt, j.created_at, j.started_at, j.ended_at, j.outcome,
                 j.decode_us, j.infer_us, j.transcribed_s, j.acknowledged),
         kept as (
             insert into artifacts (job_id, name, bytes)
             select a.job_id, a.name, a.bytes
             from unnest($9::uuid[], $10::text[], $11::bytea[]) as a (job_id, name, bytes) join ended on ended.id = a.job_id),
         said as (
             select json_agg(row_to_json(ended))::text as jobs, string_agg(id::text, ',') as ids,
                 bool_or(acknowledged) as is_acknowledged
             from ended having count(*) > 0),
         told as (
             select pg_notify($12, case
                     when cardinality($9) = 0 and octet_length(jobs) < 7500 then jobs else ids end),
                 case when is_acknowledged then set_config('synchronous_commit', 'on', true) end
             from said)
         select id from ended, told",
    )
    .bind(column(endings, |e| e.job().0))
    .bind(column(endings, |e| match e.guard {
        Guard::Claimed(fence) => Some(fence.attempt),
        Guard::Queued { .. } => None,
    }))
    .bind(column(endings, |e| match e.guard {
        Guard::Claimed(_) => None,
        Guard::Queued { account_id, .. } => Some(account_id),
    }))
    .bind(column(endings, |e| e.state().name()))
    .bind(column(endings, |e| e.outcome.as_ref().map(Json)))
    .bind(column(endings, |e| e.timing.map(|t| t.decode_us)))
    .bind(column(endings, |e| e.timing.map(|t| t.infer_us)))
    .bind(column(endings, |e| e.error.as_deref()))
    .bind(bulk.jobs)
    .bind(bulk.names)
    .bind(bulk.bytes)
    .bind(JOBS_ENDED)
    .fetch_all(db)
    .await
}

/// Cancels an account's job that no worker has claimed. `false`: it is running, over or not theirs. `db`
/// decides whether that is on disk when this returns.
pub async fn cancel(db: impl PgExecutor<'_>, job: JobId, account_id: Uuid) -> Result<bool, sqlx::Error> {
    let ending =
        Ending { guard: Guard::Queued { job, account_id }, outcome: None, timing: None, error: None };
    Ok(end(db, &[ending]).await? == [true])
}

/// Notes that the caller is about to be told of the job, and puts it on disk. `false`: there is no such job.
pub async fn acknowledge(db: impl PgExecutor<'_>, job: JobId) -> Result<bool, sqlx::Error> {
    let known = sqlx::query(
        "with known as (update jobs set acknowledged = true where id = $1 returning id)
         select set_config('synchronous_commit', 'on', true) from known",
    )
    .bind(job)
    .fetch_optional(db)
    .await?;
    Ok(known.is_some())
}
