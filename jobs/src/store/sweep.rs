//! Periodic work on all jobs: finds lost jobs, and deletes old jobs.

use std::time::Duration;

use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};

use crate::{Fence, Queue};

use super::{
    Clock, Heartbeat,
    delete::{delete_ended_before, delete_retained, forget_deleted},
    groups::forget_empty_groups,
    rows::column,
    uploads::needs_upload,
};

/// The most rows that one sweep returns or deletes.
const SWEEP_LIMIT: i64 = 200;

/// No delay before another attempt is longer than this.
const MAX_DELAY: Duration = Duration::from_secs(5 * 60);

/// The most rows that a statement of [`expire`] deletes, so that each takes a fraction of a second.
const EXPIRE_LIMIT: u64 = 1000;

/// How long the key of a request stands for its job.
const IDEMPOTENCY_KEY_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a caller may use an upload that is written to the bucket.
const RESERVED_UPLOAD_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// How long the usage of a day is kept.
const USAGE_KEPT: Duration = Duration::from_secs(31 * 24 * 60 * 60);

/// How long the audit trail is kept.
const AUDIT_KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// How long reservations are kept that do not count any more.
const RESERVATION_KEPT: Duration = Duration::from_secs(60 * 60);

/// A running job as a sweep finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::FromRow)]
pub struct RunningJob {
    /// Its current claim.
    #[sqlx(flatten)]
    pub fence: Fence,
    /// Whether it has no attempt left.
    pub is_last_attempt: bool,
    /// Whether it may be what kills the workers: two or more have died with it before, or lost it.
    pub is_suspect: bool,
}

/// The columns of [`RunningJob`] of a row `j`.
macro_rules! running {
    () => {
        "j.id as job, j.attempt, j.attempt >= j.max_attempts as is_last_attempt, j.deaths >= 2 as is_suspect"
    };
}
pub(super) use running;

/// Finds running jobs whose worker is one of these and has sent no heartbeat since.
pub async fn lost(db: &Pool, silent: &[Heartbeat]) -> Result<Vec<RunningJob>, sqlx::Error> {
    sqlx::query_as(concat!(
        "select ",
        running!(),
        " from unnest($1::text[], $2::timestamptz[]) as silent (worker, seen_at)
         join running_jobs() j on j.worker = silent.worker
         left join workers w on w.name = silent.worker
         where w.seen_at is not distinct from silent.seen_at
         limit $3"
    ))
    .bind(column(silent, |heartbeat| heartbeat.worker.as_str()))
    .bind(column(silent, |heartbeat| heartbeat.seen_at))
    .bind(SWEEP_LIMIT)
    .fetch_all(db)
    .await
}

/// Finds jobs that have run for longer than the limit of their queue, even if their workers are alive. Reads all jobs that have not
/// ended, so that it also finds what `running_jobs` might not have.
pub async fn overdue(
    db: &Pool,
    clock: &Clock,
    limits: &[(Queue, Duration)],
) -> Result<Vec<RunningJob>, sqlx::Error> {
    sqlx::query_as(concat!(
        "select ",
        running!(),
        " from jobs j join unnest($1::text[], $2::timestamptz[]) as late (queue, since) on late.queue = j.queue
         where j.ended_at is null and j.state = 'running' and j.started_at < late.since limit $3"
    ))
    .bind(column(limits, |(queue, _)| queue.name()))
    .bind(column(limits, |(_, limit)| clock.ago(*limit)))
    .bind(SWEEP_LIMIT)
    .fetch_all(db)
    .await
}

/// Makes queued jobs due that would wait longer than any delay. The clock gave them this time and was put back since.
pub async fn make_due(db: &Pool) -> Result<(), sqlx::Error> {
    sqlx::query(
        "update jobs set run_at = now() where id in (
             select id from jobs where ended_at is null and state = 'queued' and run_at > now() + make_interval(secs => $1)
             for update skip locked)",
    )
    .bind(MAX_DELAY.as_secs_f64())
    .execute(db)
    .await?;
    Ok(())
}

/// Deletes jobs whose own retention time is over, those that ended longer than `retention` ago, what is left of those that were deleted earlier, dead jobs that ended
/// longer than `dead_retention` ago, the keys of requests and the reserved uploads of more than a day ago, the turns of all claims but the highest ones, the usage of more than a month ago,
/// the reservations that do not count any more, the audit trail of more than 90 days ago, the groups that have no jobs any more, and the jumps of the clock before all of these. Returns the number of
/// deleted jobs.
///
/// Each statement deletes at most a thousand rows, and is repeated while there are more. It may be dropped between two of them.
pub async fn expire(
    db: &Pool,
    clock: &Clock,
    retention: Duration,
    dead_retention: Duration,
) -> Result<u64, sqlx::Error> {
    let usage_until: DateTime<Utc> = clock.ago(USAGE_KEPT);
    let (audit_until, keys_until) = (clock.ago(AUDIT_KEPT), clock.ago(IDEMPOTENCY_KEY_KEPT));
    let (until, dead_until) = (clock.ago(retention), clock.ago(dead_retention));
    let delete = |statement: &'static str, until: DateTime<Utc>| {
        while_more(move |limit| async move {
            Ok(sqlx::query(statement).bind(until).bind(limit).execute(db).await?.rows_affected())
        })
    };
    while_more(|limit| async move {
        Ok(sqlx::query(PASSED_TURNS).bind(limit).execute(db).await?.rows_affected())
    })
    .await?;
    delete(USAGE, usage_until).await?;
    delete(RESERVATIONS, clock.ago(RESERVATION_KEPT)).await?;
    delete(RESERVED_UPLOADS, clock.ago(RESERVED_UPLOAD_KEPT)).await?;
    delete(AUDIT, audit_until).await?;
    delete(IDEMPOTENCY_KEYS, keys_until).await?;
    let n_retained = while_more(|limit| delete_retained(db, clock, limit)).await?;
    let n_ended = while_more(|limit| delete_ended_before(db, until, dead_until, limit)).await?;
    while_more(|limit| forget_deleted(db, until, limit)).await?;
    while_more(|limit| forget_empty_groups(db, limit)).await?;
    let first_until = audit_until.min(usage_until).min(until).min(dead_until).min(keys_until);
    sqlx::query("delete from clock_jumps where jumped_to < $1").bind(first_until).execute(db).await?;
    Ok(n_retained + n_ended)
}

/// Deletes the turns of claims below the highest one of each queue and priority.
const PASSED_TURNS: &str = "delete from claimed_turns where ctid = any(array(
     select c.ctid from claimed_turns c, (
         select queue, priority, max(turn) as turn from claimed_turns group by queue, priority) highest
     where c.queue = highest.queue and c.priority = highest.priority and c.turn < highest.turn
     limit $1 for update of c skip locked))";

const USAGE: &str = "delete from audio_usage where ctid = any(array(
     select ctid from audio_usage where day < ($1 at time zone 'utc')::date limit $2 for update skip locked))";

const RESERVATIONS: &str = "delete from audio_reservations where ctid = any(array(
     select ctid from audio_reservations r where reserved_at < $1
         and not exists (select from jobs j where j.id = r.job_id and j.state in ('queued', 'running'))
     limit $2 for update of r skip locked))";

const RESERVED_UPLOADS: &str = concat!(
    "delete from reserved_uploads where ctid = any(array(
     select ctid from reserved_uploads u where created_at < $1 and not ",
    needs_upload!("u.job_id"),
    " limit $2 for update of u skip locked))"
);

const AUDIT: &str = "delete from audit where ctid = any(array(
     select ctid from audit where at < $1 order by at limit $2 for update skip locked))";

const IDEMPOTENCY_KEYS: &str = "delete from idempotency_keys where ctid = any(array(
     select ctid from idempotency_keys where created_at < $1
     order by created_at limit $2 for update skip locked))";

/// Deletes rows, at most [`EXPIRE_LIMIT`] at a time, until there are fewer. Returns the number of deleted rows.
async fn while_more<F>(delete: impl Fn(i64) -> F) -> Result<u64, sqlx::Error>
where
    F: Future<Output = Result<u64, sqlx::Error>>,
{
    let mut n_deleted = 0;
    loop {
        let n = delete(EXPIRE_LIMIT.cast_signed()).await?;
        n_deleted += n;
        if n < EXPIRE_LIMIT {
            return Ok(n_deleted);
        }
    }
}

/// Deletes workers that have sent no heartbeat since these.
pub async fn forget_workers(db: &Pool, silent: &[Heartbeat]) -> Result<(), sqlx::Error> {
    sqlx::query(
        "delete from workers w using unnest($1::text[], $2::timestamptz[]) as silent (name, seen_at)
         where w.name = silent.name and w.seen_at = silent.seen_at",
    )
    .bind(column(silent, |heartbeat| heartbeat.worker.as_str()))
    .bind(column(silent, |heartbeat| heartbeat.seen_at))
    .execute(db)
    .await?;
    Ok(())
}
