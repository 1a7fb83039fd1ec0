//! Ends jobs. No other statement moves a job to a final state.

use std::collections::HashSet;

use sqlx::{PgConnection, PgExecutor, PgPool, types::Json};
use uuid::Uuid;

use crate::{Fence, JobId, JobState, Outcome, Timing};

use super::{JOBS_ENDED, WEBHOOKS_DUE, announce, artifacts, column};

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
    /// Whether the job may have a webhook. `true` if that is unknown.
    pub may_have_webhook: bool,
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

/// Ends the jobs whose guards are met, in one statement: writes their outcomes and artifacts, deletes their uploads (but
/// not those of dead jobs, which the service failed to process and an operator can retry) and the segments that were stored
/// while they ran, adds recordings to the usage of their accounts, writes the deliveries of their webhooks, and announces
/// their ends (see [`super::ended`]). Takes at most [`super::MAX_ENDINGS`] endings. If at least one of the ended
/// jobs is acknowledged or has an upload outside the database, all of them are on disk when this returns. Otherwise a
/// crash of Postgres could lose an end whose object is deleted already.
pub async fn end(db: &mut PgConnection, endings: &[Ending]) -> Result<Ends, sqlx::Error> {
    let ended = update(db, endings).await?;
    if ended.iter().any(|row| row.is_flushed) {
        let ids: Vec<_> = ended.iter().map(|row| row.id.to_string()).collect();
        announce(db, JOBS_ENDED, &ids.join(",")).await;
    }
    if ended.iter().any(|row| row.has_webhook) {
        announce(db, WEBHOOKS_DUE, "").await;
    }
    let jobs: HashSet<JobId> = ended.iter().map(|row| row.id).collect();
    let met = endings.iter().map(|ending| jobs.contains(&ending.job())).collect();
    Ok(Ends { met, objects: ended.into_iter().filter_map(|row| row.object).collect() })
}

/// What [`end`] changed.
#[derive(Debug, Default)]
pub struct Ends {
    /// For each ending, in order: `false` if its guard was not met and nothing was changed.
    pub met: Vec<bool>,
    /// The addresses of the objects that had the uploads of the ended jobs and that nobody needs any more.
    pub objects: Vec<String>,
}

impl Ends {
    /// Whether any job was ended.
    pub fn any(&self) -> bool {
        self.met.contains(&true)
    }
}

/// The statement that ends jobs. `$returned` are further columns of the ended jobs, `$parts` are further parts of the
/// statement, and `$has_webhook` says whether an ended job has a webhook.
macro_rules! end_statement {
    ($returned:literal, $parts:literal, $has_webhook:literal) => {
        concat!(
            "with locked as (select from jobs where id = any($1) order by id for update),
             ended as (
                 update jobs j set state = e.state, outcome = e.outcome, worker = null, ended_at = now(),
                     media_type = case when e.is_dead then j.media_type end, upload = case when e.is_dead then j.upload end,
                     decode_us = e.decode_us, infer_us = e.infer_us,
                     last_error = coalesce(e.error, j.last_error)
                 from unnest($1::uuid[], $2::int4[], $3::uuid[], $4::text[], $5::jsonb[], $6::int4[], $7::int4[],
                     $8::text[], $13::bool[], $14::float8[], $15::bool[])
                     as e (id, attempt, account_id, state, outcome, decode_us, infer_us, error, may_run, audio_s, is_dead)
                 where j.id = e.id and (cardinality($1) = 1 or (select count(*) from locked) > 0)
                     and case when e.attempt is null
                     then j.account_id = e.account_id and (j.state = 'queued' or e.may_run and j.state = 'running')
                     else j.state = 'running' and j.attempt = e.attempt end
                 returning j.id, j.operation, j.state, j.attempt, j.created_at, j.started_at, j.ended_at, j.outcome,
                     j.decode_us, j.infer_us, j.transcribed_s, j.acknowledged, j.upload_url, e.is_dead",
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
                     bool_or(acknowledged or upload_url is not null) as must_flush
                 from ended having count(*) > 0),
             announced as (
                 select must_flush,
                     case when not must_flush then pg_notify($12, case
                         when cardinality($9) = 0 and octet_length(jobs) < 7500 then jobs else ids end) end,
                     case when must_flush then set_config('synchronous_commit', 'on', true) end
                 from announcement)
             select id, case when not is_dead then upload_url end as object, must_flush as is_flushed, ",
            $has_webhook,
            " as has_webhook from ended, announced"
        )
    };
}

/// Ends any jobs.
const END: &str = end_statement!(
    ", j.account_id, j.webhook_url, case e.state when 'cancelled' then j.transcribed_s else e.audio_s end as audio_s",
    "
     failed as (
         insert into failed_attempts (job_id, attempt, worker, started_at, error)
         select j.id, j.attempt, j.worker, j.started_at, e.error
         from unnest($1::uuid[], $8::text[]) as e (id, error) join jobs j on j.id = e.id
         where e.error is not null and j.id in (select id from ended)
         on conflict (job_id, attempt) do nothing),
     forgotten_segments as (delete from segments where job_id in (select id from ended)),
     used_audio as (
         insert into audio_usage (account_id, day, seconds)
         select account_id, (now() at time zone 'utc')::date, sum(audio_s)
         from ended where audio_s > 0 group by account_id order by account_id
         on conflict (account_id, day) do update set seconds = audio_usage.seconds + excluded.seconds),
     webhooks as (
         insert into webhook_deliveries (job_id, account_id, url)
         select id, account_id, webhook_url from ended where webhook_url is not null
         on conflict (job_id) do update set state = 'pending', attempt = 0, due_at = now(), created_at = now(),
             ended_at = null, last_error = null),",
    "webhook_url is not null"
);

/// Ends jobs that have a picture or strokes as their result and no webhook. It is shorter by what concerns recordings and
/// webhooks: the end of a picture is part of its latency.
const END_QUICK: &str = end_statement!("", "", "false");

/// A job that ended.
#[derive(sqlx::FromRow)]
struct EndedRow {
    id: JobId,
    /// The address of the object that nobody needs any more.
    object: Option<String>,
    /// Whether the change is on disk. If it is not, the end is announced already.
    is_flushed: bool,
    has_webhook: bool,
}

async fn update(db: &mut PgConnection, endings: &[Ending]) -> Result<Vec<EndedRow>, sqlx::Error> {
    let artifacts = artifacts::of(endings.iter().map(|e| (e.job(), e.outcome.as_ref())));
    let is_quick =
        |e: &Ending| !e.may_have_webhook && e.outcome.as_ref().is_some_and(Outcome::is_quick_answer);
    let are_quick = endings.iter().all(is_quick);
    sqlx::query_as(if are_quick { END_QUICK } else { END })
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
        .bind(column(endings, |e| matches!(e.outcome, Some(Outcome::Failed))))
        .fetch_all(db)
        .await
}

/// Cancels a job, if the guard is met. The worker that runs it stops when it next writes the job's progress. Unless
/// [`end`] flushes the change, the `synchronous_commit` setting of `db` decides whether it is on disk when this returns.
pub async fn cancel(db: &PgPool, guard: Guard) -> Result<Ends, sqlx::Error> {
    let cancelled = Ending { guard, outcome: None, timing: None, error: None, may_have_webhook: true };
    end(&mut *db.acquire().await?, &[cancelled]).await
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
