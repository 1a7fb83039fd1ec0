//! Periodic work on all jobs: finds lost jobs, and deletes old jobs.

use std::time::{Duration, Instant};

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

/// The most jobs, and the most keys of requests, that [`expire`] deletes at once.
const EXPIRE_LIMIT: u64 = 1000;

/// How long [`expire`] goes on deleting them.
const LONGEST_EXPIRY: Duration = Duration::from_secs(20);

/// How long the key of a request stands for its job.
const IDEMPOTENCY_KEY_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// How long a caller may use an upload that is written to the bucket.
const RESERVED_UPLOAD_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// How long the used audio of a day is kept.
const AUDIO_USAGE_KEPT: Duration = Duration::from_secs(31 * 24 * 60 * 60);

/// How long the audit trail is kept.
const AUDIT_KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// How long reserved audio is kept that does not count any more.
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
         join jobs j on j.state = 'running' and j.worker = silent.worker
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

/// Finds jobs that have run for longer than `quick` or `speech`, by their queue, even if their workers are alive.
pub async fn overdue(
    db: &Pool,
    clock: &Clock,
    quick: Duration,
    speech: Duration,
) -> Result<Vec<RunningJob>, sqlx::Error> {
    sqlx::query_as(concat!(
        "select ",
        running!(),
        " from jobs j where j.state = 'running' and j.started_at < case j.queue when $1 then $2 else $3 end limit $4"
    ))
    .bind(Queue::Quick.name())
    .bind(clock.ago(quick))
    .bind(clock.ago(speech))
    .bind(SWEEP_LIMIT)
    .fetch_all(db)
    .await
}

/// Makes queued jobs due that would wait longer than any delay. The clock gave them this time and was put back since.
pub async fn make_due(db: &Pool) -> Result<(), sqlx::Error> {
    sqlx::query(
        "update jobs set run_at = now() where id in (
             select id from jobs where state = 'queued' and run_at > now() + make_interval(secs => $1)
             for update skip locked)",
    )
    .bind(MAX_DELAY.as_secs_f64())
    .execute(db)
    .await?;
    Ok(())
}

/// Deletes jobs whose own retention time is over, those that ended longer than `retention` ago, what is left of those that were deleted earlier, dead jobs that ended
/// longer than `dead_retention` ago, the keys of requests and the reserved uploads of more than a day ago, the turns of all claims but the highest ones, the usage of audio of more than a month ago,
/// the reservations of audio that do not count any more, the audit trail of more than 90 days ago, the groups that have no jobs any more, and the jumps of the clock before all of these. Returns the number of
/// deleted jobs.
pub async fn expire(
    db: &Pool,
    clock: &Clock,
    retention: Duration,
    dead_retention: Duration,
) -> Result<u64, sqlx::Error> {
    sqlx::query(
        "delete from claimed_turns where ctid = any(array(
             select c.ctid from claimed_turns c, (
                 select queue, priority, max(turn) as turn from claimed_turns group by queue, priority) highest
             where c.queue = highest.queue and c.priority = highest.priority and c.turn < highest.turn
             for update of c skip locked))",
    )
    .execute(db)
    .await?;
    let usage_until: DateTime<Utc> = clock.ago(AUDIO_USAGE_KEPT);
    sqlx::query("delete from audio_usage where day < ($1 at time zone 'utc')::date")
        .bind(usage_until)
        .execute(db)
        .await?;
    sqlx::query(
        "delete from audio_reservations r where reserved_at < $1
             and not exists (select from jobs j where j.id = r.job_id and j.state in ('queued', 'running'))",
    )
    .bind(clock.ago(RESERVATION_KEPT))
    .execute(db)
    .await?;
    sqlx::query(concat!(
        "delete from reserved_uploads u where created_at < $1 and not ",
        needs_upload!("u.job_id")
    ))
    .bind(clock.ago(RESERVED_UPLOAD_KEPT))
    .execute(db)
    .await?;
    let audit_until = clock.ago(AUDIT_KEPT);
    sqlx::query("delete from audit where at < $1").bind(audit_until).execute(db).await?;
    let (until, dead_until) = (clock.ago(retention), clock.ago(dead_retention));
    let keys_until = clock.ago(IDEMPOTENCY_KEY_KEPT);
    let limit = EXPIRE_LIMIT.cast_signed();
    let began = Instant::now();
    let mut n_jobs = 0;
    loop {
        let n_retained = delete_retained(db, clock, limit).await?;
        let n_ended = delete_ended_before(db, until, dead_until, limit).await?;
        let n_forgotten = forget_deleted(db, until, limit).await?;
        let keys = sqlx::query(
            "delete from idempotency_keys where ctid = any(array(
                 select ctid from idempotency_keys where created_at < $1
                 order by created_at limit $2 for update skip locked))",
        );
        let n_keys = keys.bind(keys_until).bind(limit).execute(db).await?.rows_affected();
        n_jobs += n_retained + n_ended;
        let most = n_retained.max(n_ended).max(n_forgotten).max(n_keys);
        if most < EXPIRE_LIMIT || began.elapsed() > LONGEST_EXPIRY {
            break;
        }
    }
    forget_empty_groups(db).await?;
    sqlx::query("delete from clock_jumps where jumped_to < $1")
        .bind(audit_until.min(usage_until).min(until).min(dead_until).min(keys_until))
        .execute(db)
        .await?;
    Ok(n_jobs)
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
