//! Ends jobs. No other statement moves a job to a final state.

use std::collections::HashSet;

use sqlx::{PgExecutor, types::Json};
use uuid::Uuid;

use crate::{Fence, JobId, JobState, Outcome, Timing};

use super::{JOBS_ENDED, artifacts, column};

/// The condition under which a job may be ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// The job is running, and this is its current claim.
    Claimed(Fence),
    /// The job is queued and belongs to this account.
    Queued {
        /// The job.
        job: JobId,
        /// The account that must own the job.
        account_id: Uuid,
    },
    /// The job is queued or running, and belongs to this account.
    Unended {
        /// The job.
        job: JobId,
        /// The account that must own the job.
        account_id: Uuid,
    },
}

impl Guard {
    const fn job(self) -> JobId {
        match self {
            Self::Claimed(fence) => fence.job,
            Self::Queued { job, .. } | Self::Unended { job, .. } => job,
        }
    }

    const fn attempt(self) -> Option<i32> {
        match self {
            Self::Claimed(fence) => Some(fence.attempt),
            Self::Queued { .. } | Self::Unended { .. } => None,
        }
    }

    const fn account_id(self) -> Option<Uuid> {
        match self {
            Self::Claimed(_) => None,
            Self::Queued { account_id, .. } | Self::Unended { account_id, .. } => Some(account_id),
        }
    }
}

/// How a job ends.
#[derive(Debug, Clone)]
pub struct Ending {
    /// The condition for ending the job.
    pub guard: Guard,
    /// What the caller gets. `None` cancels the job.
    pub outcome: Option<Outcome>,
    /// The durations of the last attempt.
    pub timing: Option<Timing>,
    /// Why the last attempt failed. Shown to operators only.
    pub error: Option<String>,
}

impl Ending {
    const fn job(&self) -> JobId {
        self.guard.job()
    }

    const fn state(&self) -> JobState {
        match &self.outcome {
            Some(outcome) if outcome.is_answer() => JobState::Succeeded,
            Some(_) => JobState::Failed,
            None => JobState::Cancelled,
        }
    }
}

/// Ends the jobs whose guards are met, in one statement: writes their outcomes and artifacts, deletes their uploads and
/// the segments that were stored while they ran, adds recordings to the usage of their accounts, and announces their ends (see [`super::ended`]). Takes at most [`super::MAX_ENDINGS`] endings. Returns one `bool`
/// for each ending, in order: `false` if the guard was not met and nothing was changed. If at least one of the ended
/// jobs is acknowledged, all of them are on disk when this returns.
pub async fn end(db: impl PgExecutor<'_>, endings: &[Ending]) -> Result<Vec<bool>, sqlx::Error> {
    let ended: HashSet<JobId> = update(db, endings).await?.into_iter().collect();
    Ok(endings.iter().map(|ending| ended.contains(&ending.job())).collect())
}

/// The statement that ends jobs. `$returned` are further columns of the ended jobs, and `$parts` are further parts of the
/// statement.
macro_rules! end_statement {
    ($returned:literal, $parts:literal) => {
        concat!(
            "with locked as (select from jobs where id = any($1) order by id for update),
             ended as (
                 update jobs j set state = e.state, outcome = e.outcome, worker = null, ended_at = now(),
                     media_type = null, upload = null, decode_us = e.decode_us, infer_us = e.infer_us,
                     last_error = coalesce(e.error, j.last_error)
                 from unnest($1::uuid[], $2::int4[], $3::uuid[], $4::text[], $5::jsonb[], $6::int4[], $7::int4[],
                     $8::text[], $13::bool[], $14::float8[])
                     as e (id, attempt, account_id, state, outcome, decode_us, infer_us, error, may_run, audio_s)
                 where j.id = e.id and (cardinality($1) = 1 or (select count(*) from locked) > 0)
                     and case when e.attempt is null
                     then j.account_id = e.account_id and (j.state = 'queued' or e.may_run and j.state = 'running')
                     else j.state = 'running' and j.attempt = e.attempt end
                 returning j.id, j.operation, j.state, j.attempt, j.created_at, j.started_at, j.ended_at, j.outcome,
                     j.decode_us, j.infer_us, j.transcribed_s, j.acknowledged",
            $returned,
            "),
             stored_artifacts as (
                 insert into artifacts (job_id, name, bytes)
                 select a.job_id, a.name, a.bytes
                 from unnest($9::uuid[], $10::text[], $11::bytea[]) as a (job_id, name, bytes)
                 join ended on ended.id = a.job_id),",
            $parts,
            "
             announcement as (
                 select json_agg(row_to_json(ended))::text as jobs, string_agg(id::text, ',') as ids,
                     bool_or(acknowledged) as is_acknowledged
                 from ended having count(*) > 0),
             notified as (
                 select pg_notify($12, case
                         when cardinality($9) = 0 and octet_length(jobs) < 7500 then jobs else ids end),
                     case when is_acknowledged then set_config('synchronous_commit', 'on', true) end
                 from announcement)
             select id from ended, notified"
        )
    };
}

/// Ends any jobs.
const END: &str = end_statement!(
    ", j.account_id, case e.state when 'cancelled' then j.transcribed_s else e.audio_s end as audio_s",
    "
     forgotten_segments as (delete from segments where job_id in (select id from ended)),
     used_audio as (
         insert into audio_usage (account_id, day, seconds)
         select account_id, (now() at time zone 'utc')::date, sum(audio_s)
         from ended where audio_s > 0 group by account_id order by account_id
         on conflict (account_id, day) do update set seconds = audio_usage.seconds + excluded.seconds),"
);

/// Ends jobs that have a picture or strokes as their result. It is shorter by what concerns recordings: the end of a picture
/// is part of its latency.
const END_QUICK: &str = end_statement!("", "");

async fn update(db: impl PgExecutor<'_>, endings: &[Ending]) -> Result<Vec<JobId>, sqlx::Error> {
    let artifacts = artifacts::of(endings.iter().map(|e| (e.job(), e.outcome.as_ref())));
    let are_quick = endings.iter().all(|e| e.outcome.as_ref().is_some_and(Outcome::is_quick_answer));
    sqlx::query_scalar(if are_quick { END_QUICK } else { END })
        .bind(column(endings, |e| e.job().0))
        .bind(column(endings, |e| e.guard.attempt()))
        .bind(column(endings, |e| e.guard.account_id()))
        .bind(column(endings, |e| e.state().name()))
        .bind(column(endings, |e| e.outcome.as_ref().map(Json)))
        .bind(column(endings, |e| e.timing.map(|t| t.decode_us)))
        .bind(column(endings, |e| e.timing.map(|t| t.infer_us)))
        .bind(column(endings, |e| e.error.as_deref()))
        .bind(artifacts.jobs)
        .bind(artifacts.names)
        .bind(artifacts.bytes)
        .bind(JOBS_ENDED)
        .bind(column(endings, |e| matches!(e.guard, Guard::Unended { .. })))
        .bind(column(endings, |e| e.outcome.as_ref().and_then(Outcome::audio_s)))
        .fetch_all(db)
        .await
}

/// Cancels a job. The worker that runs it stops when it next writes the job's progress. Returns `false` if the guard was
/// not met; then nothing was changed. The `synchronous_commit` setting of `db` decides whether the change is on disk when
/// this returns.
pub async fn cancel(db: impl PgExecutor<'_>, guard: Guard) -> Result<bool, sqlx::Error> {
    let ending = Ending { guard, outcome: None, timing: None, error: None };
    Ok(end(db, &[ending]).await? == [true])
}

/// Marks a job as acknowledged, which means that its caller is about to get a 202, and flushes the job to disk.
/// Returns `false` if there is no such job.
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
