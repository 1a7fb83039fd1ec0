//! Ends jobs. No other statement moves a job to a final state.

use std::collections::HashSet;

use akhar_platform::database::{Pool, transaction};
use sqlx::{PgConnection, PgExecutor};
use uuid::Uuid;

use crate::{End, Fence, JobId, JobState, Timing};

use super::{
    announcements::{JOBS_ENDED, WEBHOOKS_DUE, announce},
    artifacts,
    rows::{column, query_over, rare_column},
};

/// The most jobs whose ids fit into the 8,000 bytes of a notification, and so the most jobs that one statement may end unless it
/// leaves the announcement to another one.
pub const MAX_ENDINGS: usize = 200;

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
    /// What comes of the job.
    pub end: End,
    /// The durations of the last attempt.
    pub timing: Option<Timing>,
    /// Why the last attempt failed. Shown to operators only.
    pub error: Option<String>,
    /// Whether the job may have a webhook. `true` if that is unknown.
    pub may_have_webhook: bool,
}

impl Ending {
    /// Ends a claimed job that the service failed to process, which makes it a dead job.
    pub const fn dead(fence: Fence, error: String, may_have_webhook: bool) -> Self {
        Self {
            guard: Guard::Claimed(fence),
            end: End::Failed,
            timing: None,
            error: Some(error),
            may_have_webhook,
        }
    }

    /// Cancels a job. The worker that runs it stops when it next writes the job's progress.
    pub const fn cancelled(guard: Guard) -> Self {
        Self { guard, end: End::Cancelled, timing: None, error: None, may_have_webhook: true }
    }

    const fn job(&self) -> JobId {
        self.guard.job()
    }

    const fn state(&self) -> JobState {
        match &self.end {
            End::Answered(..) => JobState::Succeeded,
            End::Rejected(_) | End::Failed => JobState::Failed,
            End::Cancelled => JobState::Cancelled,
        }
    }

    /// The outcome that the row gets.
    fn document(&self) -> Option<&str> {
        match &self.end {
            End::Answered(outcome, _) | End::Rejected(outcome) => Some(outcome.document.get()),
            End::Failed => Some(r#"{"kind":"failed"}"#),
            End::Cancelled => None,
        }
    }

    /// Whether the end changes nothing beside the job's row and its artifacts: it is an answer that uses no amount and has no parts,
    /// and the job has no webhook.
    const fn is_of_row_only(&self) -> bool {
        !self.may_have_webhook && matches!(self.end, End::Answered(_, None))
    }
}

/// Ends the jobs whose guards are met: writes their outcomes and artifacts, deletes their uploads (but not those of dead
/// jobs, which the service failed to process and an operator can retry) with their streams' input, and the parts that were stored while they ran,
/// adds what they used to the usage of their accounts, writes the deliveries of their webhooks, and announces their ends (see
/// [`super::ended`]).
///
/// All of them are on disk when this returns if at least one of the ended jobs is acknowledged, has an upload outside the database (a
/// crash of Postgres could lose an end whose object is deleted already), or was ended under [`Guard::Unended`], because somebody asked
/// for that. Takes any number of endings if all are under [`Guard::Unended`], otherwise at most [`MAX_ENDINGS`].
pub async fn end(db: &mut PgConnection, endings: &[Ending]) -> Result<Ends, sqlx::Error> {
    let ended = if endings.iter().all(Ending::is_of_row_only) {
        update(db, &sorted(endings)).await?
    } else {
        transaction(db, async |db: &mut PgConnection| end_within(db, endings).await).await?
    };
    announce_ends(db, &ended).await;
    let jobs: HashSet<JobId> = ended.iter().map(|row| row.id).collect();
    let met = endings.iter().map(|ending| jobs.contains(&ending.job())).collect();
    Ok(Ends { met, objects: ended.into_iter().filter_map(|row| row.object).collect() })
}

/// The endings in the order in which their rows are locked.
fn sorted(endings: &[Ending]) -> Vec<&Ending> {
    let mut sorted: Vec<&Ending> = endings.iter().collect();
    sorted.sort_unstable_by_key(|ending| ending.job());
    sorted
}

/// Ends jobs in a transaction. After its commit, [`announce_ends`] announces those that it returns.
pub async fn end_within(
    transaction: &mut PgConnection,
    endings: &[Ending],
) -> Result<Vec<EndedRow>, sqlx::Error> {
    let ended = update(transaction, &sorted(endings)).await?;
    // A job that no worker has claimed has nothing beside its row, unless it has a webhook or a stream.
    let has_more = |row: &&EndedRow| row.attempt > 0 || row.has_webhook || row.has_stream;
    let to_settle: Vec<_> = ended.iter().filter(has_more).collect();
    if !to_settle.is_empty() {
        settle(transaction, &to_settle, endings).await?;
    }
    Ok(ended)
}

/// Announces the ends of jobs that are not announced yet.
pub async fn announce_ends(db: &mut PgConnection, ended: &[EndedRow]) {
    if ended.iter().any(|row| row.is_flushed) {
        for rows in ended.chunks(MAX_ENDINGS) {
            let ids: Vec<_> = rows.iter().map(|row| row.id.to_string()).collect();
            announce(db, JOBS_ENDED, &ids.join(",")).await;
        }
    }
    if ended.iter().any(|row| row.has_webhook) {
        announce(db, WEBHOOKS_DUE, "").await;
    }
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

/// A job that ended.
#[derive(sqlx::FromRow)]
#[expect(clippy::struct_excessive_bools, reason = "each is a column")]
pub struct EndedRow {
    id: JobId,
    /// The address of the object that nobody needs any more.
    object: Option<String>,
    has_webhook: bool,
    /// Whether it has a stream, if no worker has claimed it.
    has_stream: bool,
    /// How often a worker has claimed it.
    attempt: i32,
    /// The worker of the last attempt, if that failed.
    failed_worker: Option<String>,
    has_failed: bool,
    /// Whether the change is on disk. If it is not, the end is announced already.
    is_flushed: bool,
}

/// Changes the rows in the order of `endings`, which must be sorted by job, stores the artifacts, and announces the ends unless they
/// must be flushed first. Whoever calls this deletes the objects that it returns; their addresses stay in the rows. Only the primary
/// key can find the rows: with another index their order could be another one, and two statements could wait for each other.
async fn update(db: &mut PgConnection, endings: &[&Ending]) -> Result<Vec<EndedRow>, sqlx::Error> {
    let artifacts = artifacts::of(endings.iter().map(|e| (e.job(), &e.end)));
    query_over!(
        query_as,
        given {
            1 id uuid = column(endings, |e| e.job().0);
            2 attempt int4 = rare_column(endings, |e| e.guard.attempt());
            3 account_id uuid = rare_column(endings, |e| e.guard.account_id());
            4 may_run bool = column(endings, |e| matches!(e.guard, Guard::Unended { .. }));
            5 state text = column(endings, |e| e.state().name());
            6 outcome text = rare_column(endings, |e| e.document());
            7 is_dead bool = column(endings, |e| matches!(e.end, End::Failed));
            8 decode_us int4 = rare_column(endings, |e| e.timing.map(|t| t.decode_us));
            9 infer_us int4 = rare_column(endings, |e| e.timing.map(|t| t.infer_us));
            10 error text = rare_column(endings, |e| e.error.as_deref());
        }
        new_artifacts {
            11 job_id uuid = artifacts.jobs;
            12 name text = artifacts.names;
            13 bytes bytea = artifacts.bytes;
        },
        "ended as (
             update jobs j set state = e.state, outcome = e.outcome::jsonb, worker = null, ended_at = now(),
                 media_type = case when e.is_dead then j.media_type end, upload = case when e.is_dead then j.upload end,
                 recording_url = case when e.is_dead then j.recording_url end,
                 decode_us = e.decode_us, infer_us = e.infer_us, last_error = coalesce(e.error, j.last_error)
             from given e
             where j.id = e.id and case when e.attempt is null
                 then j.account_id = e.account_id and (j.state = 'queued' or e.may_run and j.state = 'running')
                 else j.state = 'running' and j.attempt = e.attempt end
             returning j.id, j.attempt, j.acknowledged or j.upload_url is not null or e.may_run as must_flush,
                 case when not e.is_dead then j.upload_url end as object, j.webhook_url is not null as has_webhook,
                 j.attempt = 0 and exists (select from streams s where s.job_id = j.id) as has_stream,
                 e.error is not null as has_failed,
                 -- A subselect still sees the row as it was before the statement, with its worker.
                 case when e.error is not null then (select worker from jobs old where old.id = j.id) end as failed_worker),
         stored_artifacts as (
             insert into artifacts (job_id, name, bytes)
             select a.job_id, a.name, a.bytes from new_artifacts a join ended on ended.id = a.job_id),
         flushed as (select bool_or(must_flush) as is_flushed from ended having count(*) > 0),
         -- If no change must be flushed, the commit does not wait for the disk, and its ends are announced with it.
         announced as (
             select is_flushed,
                 case when not is_flushed then set_config('synchronous_commit', 'off', true) end,
                 case when not is_flushed then (select pg_notify($14, string_agg(id::text, ',')) from ended) end
             from flushed)
         -- Postgres executes `announced` because it is joined.
         select id, object, has_webhook, has_stream, attempt, failed_worker, has_failed, is_flushed from ended, announced",
    )
    .bind(JOBS_ENDED)
    .fetch_all(db)
    .await
}

/// Changes what belongs to ended jobs beside their rows: their parts, failed attempts, used amounts and webhooks.
async fn settle(db: &mut PgConnection, ended: &[&EndedRow], endings: &[Ending]) -> Result<(), sqlx::Error> {
    let used = |ending: &Ending| match ending.end {
        End::Answered(_, Some(amount)) => Some((ending.job().0, amount)),
        _ => None,
    };
    let (users, amounts): (Vec<_>, Vec<_>) = endings.iter().filter_map(used).unzip();
    let failed: Vec<_> = ended.iter().filter(|row| row.has_failed).collect();
    query_over!(
        query,
        used {
            1 job uuid = users;
            2 amount float8 = amounts;
        }
        failed {
            3 id uuid = column(&failed, |row| row.id.0);
            4 worker text = column(&failed, |row| row.failed_worker.as_deref());
        },
        "ended as (
             select id, account_id, attempt, started_at, last_error, webhook_url,
                 case state when 'cancelled' then transcribed_s else used.amount end as used_s
             from jobs left join used on job = id where id = any($5)),
         deleted_segments as (delete from segments where job_id = any($5)),
         deleted_inputs as (
             delete from stream_inputs where job_id in (
                 select id from jobs where id = any($5) and outcome->>'kind' is distinct from 'failed')),
         inserted_attempts as (
             insert into failed_attempts (job_id, attempt, worker, started_at, error)
             select ended.id, ended.attempt, failed.worker, ended.started_at, ended.last_error
             from failed join ended on ended.id = failed.id
             on conflict (job_id, attempt) do nothing),
         added_usage as (
             insert into audio_usage (account_id, day, seconds)
             select account_id, (now() at time zone 'utc')::date, sum(used_s)
             from ended where used_s > 0 group by account_id order by account_id
             on conflict (account_id, day) do update set seconds = audio_usage.seconds + excluded.seconds)
         -- A job that an operator has tried again ends, and is delivered, a second time.
         insert into webhook_deliveries (job_id, account_id, url)
         select id, account_id, webhook_url from ended where webhook_url is not null order by id
         on conflict (job_id) do update set state = 'pending', attempt = 0, due_at = now(), created_at = now(),
             ended_at = null, last_error = null",
    )
    .bind(column(ended, |row| row.id.0))
    .execute(db)
    .await?;
    Ok(())
}

/// Cancels a job, if the guard is met (see [`end`]).
pub async fn cancel(db: &Pool, guard: Guard) -> Result<Ends, sqlx::Error> {
    db.run(move |db| Box::pin(async move { end(db, &[Ending::cancelled(guard)]).await })).await
}

/// Marks a job as acknowledged, which means that its caller is about to get a 202, and flushes the job to disk.
/// Returns `false` if there is no such job.
pub async fn acknowledge(db: impl PgExecutor<'_>, job: JobId) -> Result<bool, sqlx::Error> {
    let known =
        sqlx::query("update jobs set acknowledged = true where id = $1").bind(job).execute(db).await?;
    Ok(known.rows_affected() > 0)
}
