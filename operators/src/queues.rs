//! The queues: their modes, their jobs and what happens in them now.

use akhar_jobs::{
    JobState, Queue,
    store::{QUEUE_MODE_CHANGED, QueueMode},
};
use akhar_platform::database::Pool;
use akhar_requests::QUEUES;
use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;
use sqlx::PgConnection;
use utoipa::ToSchema;

use crate::{
    audit::{Action, Actor, ChangeError, Entry},
    until::{Until, Why},
};

/// Counts of waiting or failed jobs end here.
pub const MAX_COUNTED: i64 = 10_000;

/// When the oldest waiting job of the queue `q` was accepted. It is among the 500 jobs of each priority that are claimed next: accounts
/// take turns, and the jobs of an account are in their order of acceptance.
macro_rules! oldest_waiting {
    () => {
        "(select min(created_at) from (
             (select created_at from jobs where queue = q.queue and ended_at is null and state = 'queued' and priority = 1
              order by turn, run_at, id limit 500)
             union all
             (select created_at from jobs where queue = q.queue and ended_at is null and state = 'queued' and priority = 0
              order by turn, run_at, id limit 500)) next)"
    };
}
pub(crate) use oldest_waiting;

/// A queue.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
#[schema(as = AdminQueue)]
pub struct QueueState {
    /// `quick` or `speech`.
    pub queue: String,
    /// `open`, `paused` or `draining`.
    #[schema(value_type = String)]
    pub mode: QueueMode,
    /// When an operator last set the mode.
    pub changed_at: Option<DateTime<Utc>>,
    /// Why, if the operator said so.
    pub why: Option<String>,
    /// When the queue is open again. `null` if an operator opens it.
    pub until: Option<DateTime<Utc>>,
    /// The number of jobs in each state.
    #[sqlx(flatten)]
    pub jobs: QueueJobs,
}

/// The number of jobs of a queue in each state.
#[derive(Debug, Clone, Copy, Default, Serialize, sqlx::FromRow, ToSchema)]
#[schema(as = AdminQueueJobs)]
#[expect(missing_docs, reason = "each is a state")]
pub struct QueueJobs {
    pub queued: i64,
    pub running: i64,
    pub succeeded: i64,
    pub failed: i64,
    pub cancelled: i64,
}

/// All queues. Counts all jobs.
pub async fn list(db: &Pool) -> Result<Vec<QueueState>, sqlx::Error> {
    sqlx::query_as(
        "with counted as (
             select queue, count(*) filter (where state = 'queued') as queued, count(*) filter (where state = 'running') as running,
                 count(*) filter (where state = 'succeeded') as succeeded, count(*) filter (where state = 'failed') as failed,
                 count(*) filter (where state = 'cancelled') as cancelled
             from jobs group by queue)
         select q.queue, coalesce(c.mode, 'open') as mode, c.changed_at, c.why, c.until, coalesce(queued, 0) as queued,
             coalesce(running, 0) as running, coalesce(succeeded, 0) as succeeded, coalesce(failed, 0) as failed,
             coalesce(cancelled, 0) as cancelled
         from unnest($1::text[]) with ordinality as q (queue, nth)
         left join queue_modes() c on c.queue = q.queue left join counted on counted.queue = q.queue order by q.nth",
    )
    .bind(QUEUES.map(Queue::name))
    .fetch_all(db)
    .await
}

/// What happens in a queue now.
#[derive(Debug, Clone, PartialEq, Serialize, sqlx::FromRow, ToSchema)]
#[schema(as = AdminQueueLoad)]
pub struct QueueLoad {
    /// `quick` or `speech`.
    pub queue: String,
    /// `open`, `paused` or `draining`.
    #[schema(value_type = String)]
    pub mode: QueueMode,
    /// Why an operator set the mode, if one did and said so.
    pub why: Option<String>,
    /// When the queue is open again. `null` if an operator opens it.
    pub until: Option<DateTime<Utc>>,
    /// The number of jobs that wait: 10,001 if there are more.
    pub queued: i64,
    /// The number of jobs that run: 10,001 if there are more.
    pub running: i64,
    /// How long the oldest waiting job has waited, seconds.
    pub oldest_s: Option<f64>,
    /// How many jobs ended in a minute, by the last minute or a shorter time.
    pub ended_per_minute: f64,
    /// How many of them failed.
    pub failed_per_minute: f64,
}

/// What happens in each queue.
pub async fn loads(db: &Pool) -> Result<Vec<QueueLoad>, sqlx::Error> {
    sqlx::query_as(concat!(
        "with ended as materialized (
             (select queue, state, ended_at from jobs where ended_at > now() - interval '1 minute'
              order by ended_at desc limit $2)
             union all
             (select queue, state, ended_at from deleted_jobs where ended_at > now() - interval '1 minute'
              order by ended_at desc limit $2)
             order by ended_at desc limit $2),
         -- If more ended in the last minute than are counted, they are of a shorter time.
         measured as (
             select case when count(*) < $2 then 60 else greatest(extract(epoch from now() - min(ended_at)), 1) end::float8
                 as over_s from ended)
         select q.queue, coalesce(c.mode, 'open') as mode, c.why, c.until,
             (select count(*) from (
                 select from jobs where queue = q.queue and ended_at is null and state = 'queued' limit $2 + 1) as waiting) as queued,
             (select count(*) from (
                 select from running_jobs() where queue = q.queue limit $2 + 1) as running) as running,
             extract(epoch from now() - ", oldest_waiting!(), ")::float8 as oldest_s,
             coalesce((select count(*) * 60 / over_s from ended, measured where ended.queue = q.queue
                 group by over_s), 0)::float8 as ended_per_minute,
             coalesce((select count(*) * 60 / over_s from ended, measured
                 where ended.queue = q.queue and state = 'failed' group by over_s), 0)::float8 as failed_per_minute
         from unnest($1::text[]) with ordinality as q (queue, nth)
         left join queue_modes() c on c.queue = q.queue order by q.nth"
    ))
    .bind(QUEUES.map(Queue::name))
    .bind(MAX_COUNTED)
    .fetch_all(db)
    .await
}

/// The jobs of one operation in one state that have not ended.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct Unended {
    /// The name of the queue, as stored.
    pub queue: String,
    /// The name of the operation, as stored.
    pub operation: String,
    /// `queued` or `running`.
    pub state: JobState,
    /// The number of jobs.
    pub n_jobs: i64,
    /// The age of the oldest of them, seconds.
    pub oldest_s: f64,
    /// The longest time for which a running one has not progressed, seconds. 0 for those that wait.
    pub stalled_s: f64,
}

/// Counts the jobs that have not ended. Reads only their rows, by the index of the claims.
pub async fn unended(db: &Pool) -> Result<Vec<Unended>, sqlx::Error> {
    sqlx::query_as(
        "select queue, operation, state, count(*) as n_jobs,
             greatest(extract(epoch from now() - min(created_at)), 0)::float8 as oldest_s,
             case state when 'running' then greatest(extract(epoch from now() - min(greatest(started_at, progressed_at))), 0)
                 else 0 end::float8 as stalled_s
         from jobs where ended_at is null group by queue, operation, state",
    )
    .fetch_all(db)
    .await
}

/// A mode with its end and its reason, such as `paused until 2026-11-29 06:00:00 UTC (the disk is replaced)`.
pub fn mode_text(mode: QueueMode, until: Option<DateTime<Utc>>, why: Option<&str>) -> String {
    let until = until.map(|at| format!(" until {} UTC", at.format("%F %T"))).unwrap_or_default();
    let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
    format!("{}{until}{why}", mode.name())
}

/// What an operator decides about a queue.
#[derive(Debug, Clone)]
pub struct ModeChange {
    /// The mode that it gets.
    pub mode: QueueMode,
    /// Why.
    pub why: Option<Why>,
    /// When it is open again. `None` if an operator opens it, or if the mode is that.
    pub until: Option<Until>,
}

impl ModeChange {
    /// A change to this mode, without an end.
    pub const fn to(mode: QueueMode) -> Self {
        Self { mode, why: None, until: None }
    }

    const fn action(&self) -> Action {
        match self.mode {
            QueueMode::Open => Action::QueueResume,
            QueueMode::Paused => Action::QueuePause,
            QueueMode::Draining => Action::QueueDrain,
        }
    }
}

/// How the audit trail names a queue, its end and the reason.
fn target(queue: &str, until: Option<DateTime<Utc>>, why: Option<&str>) -> String {
    let until = until.map(|at| format!(" until={}", at.to_rfc3339_opts(SecondsFormat::Secs, true)));
    let why = why.map(|why| format!(" why={why}"));
    format!("{queue}{}{}", until.unwrap_or_default(), why.unwrap_or_default())
}

/// The jobs of one queue that may be claimed now.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct Due {
    /// The name of the queue, as stored.
    pub queue: String,
    /// The number of jobs.
    pub n_jobs: i64,
    /// How long the oldest of them could have been claimed, seconds.
    pub oldest_s: f64,
}

/// Counts the jobs that may be claimed now, without those that pause after an attempt. Queues without such jobs are left out.
pub async fn due(db: &Pool) -> Result<Vec<Due>, sqlx::Error> {
    sqlx::query_as(
        "select queue, count(*) as n_jobs,
             greatest(extract(epoch from now() - min(greatest(created_at, run_at))), 0)::float8 as oldest_s
         from jobs where ended_at is null and state = 'queued' and run_at <= now() group by queue order by queue",
    )
    .fetch_all(db)
    .await
}

/// Sets the mode of a queue. Workers follow within about a second, api processes as soon as they have the announcement.
pub async fn set_mode(
    db: &Pool,
    actor: &Actor,
    queue: Queue,
    change: &ModeChange,
) -> Result<(), ChangeError> {
    let entry = actor.begin(change.action())?;
    let ModeChange { mode, why, until } = change.clone();
    let (why, until) = (why.map(|Why(text)| text), until.map(|Until(at)| at));
    db.transaction(move |transaction| {
        Box::pin(async move {
            open_due(&mut *transaction).await?;
            let changed = sqlx::query(
                "with changed as (
                     insert into queue_controls (queue, mode, why, until)
                     select $1, $2, $4, $5 where $2 <> 'open' or exists (select from queue_controls where queue = $1)
                     on conflict (queue) do update set mode = excluded.mode, why = excluded.why, until = excluded.until,
                         changed_at = case when queue_controls.mode = excluded.mode then queue_controls.changed_at else now() end
                     where queue_controls.mode <> excluded.mode
                         or (queue_controls.why, queue_controls.until) is distinct from (excluded.why, excluded.until)
                             and excluded.mode <> 'open'
                     returning queue)
                 select pg_notify($3, queue) from changed",
            )
            .bind(queue.name())
            .bind(mode)
            .bind(QUEUE_MODE_CHANGED)
            .bind(why.as_ref().filter(|_| mode != QueueMode::Open))
            .bind(until.filter(|_| mode != QueueMode::Open))
            .fetch_all(&mut *transaction)
            .await?;
            Ok(entry.record(transaction, &target(queue.name(), until, why.as_deref()), changed.len()).await?)
        })
    })
    .await
}

/// Records that queues are open whose time is over. They are open since then without it.
pub(crate) async fn open_due(transaction: &mut PgConnection) -> Result<(), sqlx::Error> {
    let opened: Vec<(String, DateTime<Utc>)> = sqlx::query_as(
        "with due as (select queue, until from queue_controls where until <= now() for update)
         update queue_controls c set mode = 'open', changed_at = due.until, why = null, until = null
         from due where c.queue = due.queue returning c.queue, due.until",
    )
    .fetch_all(&mut *transaction)
    .await?;
    for (queue, until) in opened {
        let entry = Entry::of_service(Action::QueueResume);
        entry.record(&mut *transaction, &target(&queue, Some(until), None), 1).await?;
    }
    Ok(())
}
