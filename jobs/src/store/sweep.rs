//! What no single job's path does: free the jobs of dead workers, end those out of attempts, forget old ones.

use sqlx::{PgConnection, PgPool, types::Json};
use std::time::Duration;
use ulid::Ulid;

use crate::{JobId, Outcome, Queue, TicketId};

use super::{JOB_ENDED, SubmitError, submit::push, unreadable};

/// Rows one sweep touches at most, so that it never holds locks for long.
const SWEEP_LIMIT: i64 = 500;

/// What a sweep did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Jobs of dead workers returned to their queue.
    pub n_rescued: usize,
    /// Jobs of dead workers that had no attempt left.
    pub n_given_up: usize,
}

#[derive(sqlx::FromRow)]
struct Orphan {
    id: JobId,
    queue: String,
    priority: i16,
    spent: bool,
}

/// Frees jobs whose worker has been silent for `silence`: back to their queue with a new ticket, or,
/// out of attempts, failed for good. Any number of processes may sweep at once.
pub async fn rescue(db: &PgPool, silence: Duration) -> Result<Swept, SubmitError> {
    let mut tx = db.begin().await?;
    let orphans: Vec<Orphan> = sqlx::query_as(
        "select j.id, j.queue, j.priority, j.attempt >= j.max_attempts as spent from jobs j
         where j.state = 'running' and not exists (
             select from workers w where w.name = j.worker and w.seen_at > now() - make_interval(secs => $1))
         order by j.id limit $2 for update of j skip locked",
    )
    .bind(silence.as_secs_f64())
    .bind(SWEEP_LIMIT)
    .fetch_all(&mut *tx)
    .await?;
    if orphans.is_empty() {
        return Ok(Swept::default());
    }
    let (spent, alive): (Vec<Orphan>, Vec<Orphan>) = orphans.into_iter().partition(|o| o.spent);
    requeue(&mut tx, &alive).await?;
    give_up(&mut tx, &spent).await?;
    tx.commit().await?;
    Ok(Swept { n_rescued: alive.len(), n_given_up: spent.len() })
}

async fn requeue(tx: &mut PgConnection, orphans: &[Orphan]) -> Result<(), SubmitError> {
    sqlx::query(
        "update jobs set state = 'queued', worker = null, last_error = 'its worker died' where id = any($1)",
    )
    .bind(ids(orphans))
    .execute(&mut *tx)
    .await?;
    for orphan in orphans {
        let queue = Queue::from_name(&orphan.queue).ok_or_else(|| unreadable("queue", &orphan.queue))?;
        push(tx, queue, TicketId(Ulid::generate()), orphan.id, Duration::ZERO, orphan.priority).await?;
    }
    Ok(())
}

async fn give_up(tx: &mut PgConnection, orphans: &[Orphan]) -> Result<(), sqlx::Error> {
    sqlx::query(
        "with ended as (
             update jobs set state = 'failed', worker = null, ended_at = now(), outcome = $2,
                 last_error = 'its worker died, and it had no attempt left'
             where id = any($1) returning id),
         upload as (delete from uploads u using ended where u.job_id = ended.id)
         select pg_notify($3, id::text) from ended",
    )
    .bind(ids(orphans))
    .bind(Json(Outcome::Failed))
    .bind(JOB_ENDED)
    .execute(tx)
    .await?;
    Ok(())
}

fn ids(orphans: &[Orphan]) -> Vec<JobId> {
    orphans.iter().map(|o| o.id).collect()
}

/// Forgets jobs that ended longer than `retention` ago, and workers long silent; how many jobs.
pub async fn expire(db: &PgPool, retention: Duration) -> Result<u64, sqlx::Error> {
    sqlx::query("delete from workers where seen_at < now() - interval '1 minute'").execute(db).await?;
    sqlx::query(
        "delete from apalis.workers w where w.last_seen < now() - interval '1 hour'
                 and not exists (select from apalis.jobs t where t.lock_by = w.id)",
    )
    .execute(db)
    .await?;
    let expired = sqlx::query(
        "delete from jobs where id in (
             select id from jobs where ended_at < now() - make_interval(secs => $1)
             order by ended_at limit $2 for update skip locked)",
    )
    .bind(retention.as_secs_f64())
    .bind(SWEEP_LIMIT)
    .execute(db)
    .await?;
    Ok(expired.rows_affected())
}
