//! What happened in each queue in each minute of the last day. The first process that comes to a minute writes its rows.

use std::time::Duration;

use akhar_jobs::Queue;
use akhar_platform::database::Pool;
use akhar_requests::{LIVE, QUEUES, SPEECH};
use chrono::{DateTime, Utc};
use sqlx::PgConnection;
use tokio::time::sleep;

use crate::queues::{oldest_waiting, open_due};

/// The key of an advisory lock, so that only one of several processes counts a minute. The number is arbitrary; no other
/// code takes this lock.
const LOCK: i64 = 7_019_281_124;

/// How long after its end a minute is counted. Statements that began in it are committed by then.
const GRACE: Duration = Duration::from_secs(2);

/// The pause after a failure.
const PAUSE: Duration = Duration::from_secs(5);

/// One minute of a queue.
#[derive(Debug, Clone, PartialEq, sqlx::FromRow)]
pub struct QueueMinute {
    /// The start of the minute.
    pub minute: DateTime<Utc>,
    /// The name of the queue, as stored.
    pub queue: String,
    /// Attempts that began.
    pub n_started: i32,
    /// Jobs that ended, in any state.
    pub n_ended: i32,
    /// Those of them that failed.
    pub n_failed: i32,
    /// The longest wait of a job that was claimed for the first time, or that still waited at the end of the minute,
    /// milliseconds. 0 without one.
    pub oldest_wait_ms: i64,
    /// Seconds of the recordings whose jobs ended.
    pub audio_s: f64,
}

/// Records each minute after its end, for as long as it runs, and at first the minute before. Every process that serves may do
/// so.
pub async fn record_minutes(db: Pool) {
    loop {
        let pause = record_minute(&db).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "could not record what happened in the queues in the last minute");
            PAUSE
        });
        sleep(pause).await;
    }
}

/// Records the last minute unless another process has or is about to, and forgets those of more than a day ago. Records too
/// which queues have opened. Returns how long it is until the next minute can be recorded.
pub async fn record_minute(db: &Pool) -> Result<Duration, sqlx::Error> {
    db.transaction(|transaction| Box::pin(open_due(transaction))).await?;
    db.transaction(|transaction| Box::pin(record(transaction))).await
}

async fn record(transaction: &mut PgConnection) -> Result<Duration, sqlx::Error> {
    let (minute, is_due, next_s): (DateTime<Utc>, bool, f64) = sqlx::query_as(
        "select minute,
             not exists (select from queue_minutes q where q.minute = last.minute) and pg_try_advisory_xact_lock($1),
             extract(epoch from minute + interval '2 minutes' - at)::float8
         from (select at, date_trunc('minute', at) - interval '1 minute' as minute
               from (select now() - make_interval(secs => $2) as at) as counted) as last",
    )
    .bind(LOCK)
    .bind(GRACE.as_secs_f64())
    .fetch_one(&mut *transaction)
    .await?;
    if is_due {
        // Every condition on times is a range, so that a plan for any values uses the indexes.
        sqlx::query(concat!(
            "with ended as materialized ( -- from the minute until now, since what began in the minute may have ended after it
                 select id, attempt, queue, state, created_at, started_at, ended_at, case
                     when queue <> all($4) then 0
                     when state = 'cancelled' then transcribed_s
                     else (outcome->>'seconds')::float8 end as audio_s
                 from jobs where ended_at >= $1 and ended_at <= now()
                 union all
                 select id, null, queue, state, created_at, started_at, ended_at, audio_s
                 from deleted_jobs where ended_at >= $1 and ended_at <= now()),
             attempts as ( -- a failed one can also be the last one of its job
                 select id, attempt, queue, created_at, started_at from ended
                 union
                 select id, attempt, queue, created_at, started_at from running_jobs()
                 union
                 select j.id, f.attempt, j.queue, j.created_at, f.started_at
                 from failed_attempts f join jobs j on j.id = f.job_id
                 where f.started_at >= $1 and f.started_at < $2),
             started_of as (
                 select queue, count(*) as n,
                     max(started_at - created_at) filter (where coalesce(attempt, 1) = 1) as longest_wait
                 from attempts where started_at >= $1 and started_at < $2 group by queue),
             ended_of as (
                 select queue, count(*) as n, count(*) filter (where state = 'failed') as n_failed, sum(audio_s) as audio_s
                 from ended where ended_at < $2 group by queue)
             insert into queue_minutes (minute, queue, n_started, n_ended, n_failed, oldest_wait_ms, audio_s)
             select $1, q.queue, coalesce(s.n, 0), coalesce(e.n, 0), coalesce(e.n_failed, 0),
                 coalesce(extract(epoch from greatest(interval '0', s.longest_wait, $2 - ", oldest_waiting!(), ")) * 1000, 0),
                 coalesce(e.audio_s, 0)
             from unnest($3::text[]) as q (queue)
             left join started_of s on s.queue = q.queue left join ended_of e on e.queue = q.queue
             on conflict (minute, queue) do nothing"
        ))
        .bind(minute)
        .bind(minute + Duration::from_secs(60))
        .bind(QUEUES.map(Queue::name))
        .bind([SPEECH, LIVE].map(Queue::name))
        .execute(&mut *transaction)
        .await?;
        sqlx::query("delete from queue_minutes where minute < now() - interval '1 day'")
            .execute(&mut *transaction)
            .await?;
    }
    Ok(Duration::from_secs_f64(next_s.max(0.0)))
}

/// The minutes of the last day that were recorded, the oldest first.
pub async fn recorded_minutes(db: &Pool) -> Result<Vec<QueueMinute>, sqlx::Error> {
    sqlx::query_as(
        "select minute, queue, n_started, n_ended, n_failed, oldest_wait_ms, audio_s from queue_minutes
         where minute > now() - interval '1 day' and minute <= now() order by minute",
    )
    .fetch_all(db)
    .await
}
