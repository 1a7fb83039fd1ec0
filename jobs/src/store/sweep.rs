//! Periodic work on all jobs: finds the jobs of dead workers, and deletes old jobs.

use std::time::Duration;

use sqlx::PgPool;

use crate::{Fence, JobId, Queue};

/// The most rows that one sweep returns or deletes.
const SWEEP_LIMIT: i64 = 200;

/// When a running job counts as lost. Each of the three limits is enough.
#[derive(Debug, Clone, Copy)]
pub struct Lost {
    /// Its worker has sent no heartbeat for this long.
    pub silence: Duration,
    /// A job of the quick queue has run for this long, even if its worker is alive.
    pub quick: Duration,
    /// A job of the speech queue has run for this long, even if its worker is alive.
    pub speech: Duration,
}

/// Finds running jobs that are lost. The `bool` says whether the attempt is the job's last.
pub async fn lost(db: &PgPool, lost: Lost) -> Result<Vec<(Fence, bool)>, sqlx::Error> {
    let rows: Vec<(JobId, i32, bool)> = sqlx::query_as(
        "select j.id, j.attempt, j.attempt >= j.max_attempts from jobs j
         where j.state = 'running' and (
             j.started_at < now() - make_interval(secs => case j.queue when $1 then $2 else $3 end)
             or not exists (
                 select from workers w where w.name = j.worker and w.seen_at > now() - make_interval(secs => $4)))
         limit $5",
    )
    .bind(Queue::Quick.name())
    .bind(lost.quick.as_secs_f64())
    .bind(lost.speech.as_secs_f64())
    .bind(lost.silence.as_secs_f64())
    .bind(SWEEP_LIMIT)
    .fetch_all(db)
    .await?;
    Ok(rows.into_iter().map(|(job, attempt, is_last)| (Fence { job, attempt }, is_last)).collect())
}

/// Deletes jobs that ended longer than `retention` ago, dead jobs that ended longer than `dead_retention` ago, workers that
/// have sent no heartbeat for a minute, the usage of audio of more than a month ago, and the reservations of audio that do
/// not count any more. Returns the number of deleted jobs.
pub async fn expire(db: &PgPool, retention: Duration, dead_retention: Duration) -> Result<u64, sqlx::Error> {
    sqlx::query("delete from workers where seen_at < now() - interval '1 minute'").execute(db).await?;
    sqlx::query("delete from audio_usage where day < (now() at time zone 'utc')::date - 31")
        .execute(db)
        .await?;
    sqlx::query(
        "delete from audio_reservations r where reserved_at < now() - interval '1 hour'
             and not exists (select from jobs j where j.id = r.job_id and j.state in ('queued', 'running'))",
    )
    .execute(db)
    .await?;
    let expired = sqlx::query(
        "delete from jobs where id in (
             select id from jobs where ended_at < now() - make_interval(secs => least($1, $2))
                 and ended_at < now() - make_interval(secs => case
                     when state = 'failed' and outcome->>'kind' = 'failed' then $2 else $1 end)
             order by ended_at limit $3 for update skip locked)",
    )
    .bind(retention.as_secs_f64())
    .bind(dead_retention.as_secs_f64())
    .bind(SWEEP_LIMIT)
    .execute(db)
    .await?;
    Ok(expired.rows_affected())
}
