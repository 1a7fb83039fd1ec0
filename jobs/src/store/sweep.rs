//! What no single job's path does: free the jobs of dead workers, end those out of attempts, forget old ones.

use sqlx::{PgConnection, PgPool, types::Json};
use std::time::Duration;

use crate::{JobId, Outcome, Queue, TicketId};

use super::JOB_ENDED;

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

/// When a running job counts as lost.
#[derive(Debug, Clone, Copy)]
pub struct Lost {
    /// Its worker has been silent for this long.
    pub silence: Duration,
    /// It has run for this long in the quick queue, whatever its worker says.
    pub quick: Duration,
    /// The same in the speech queue.
    pub speech: Duration,
}

/// Frees jobs that are lost: back to their queue with a new ticket, or, out of attempts, failed for
/// good. Any number of processes may sweep at once.
pub async fn rescue(db: &PgPool, lost: Lost) -> Result<Swept, sqlx::Error> {
    let mut tx = db.begin().await?;
    let orphans: Vec<(JobId, bool)> = sqlx::query_as(
        "select j.id, j.attempt >= j.max_attempts from jobs j
         where j.state = 'running' and (
             j.started_at < now() - make_interval(secs => case j.queue when $4 then $2 else $3 end)
             or not exists (
                 select from workers w where w.name = j.worker and w.seen_at > now() - make_interval(secs => $1)))
         order by j.id limit $5 for update of j skip locked",
    )
    .bind(lost.silence.as_secs_f64())
    .bind(lost.quick.as_secs_f64())
    .bind(lost.speech.as_secs_f64())
    .bind(Queue::Quick.name())
    .bind(SWEEP_LIMIT)
    .fetch_all(&mut *tx)
    .await?;
    let (spent, alive): (Vec<_>, Vec<_>) = orphans.into_iter().partition(|(_, is_spent)| *is_spent);
    let ids = |jobs: &[(JobId, bool)]| jobs.iter().map(|(id, _)| *id).collect::<Vec<_>>();
    if !alive.is_empty() {
        requeue(&mut tx, &ids(&alive)).await?;
    }
    if !spent.is_empty() {
        give_up(&mut tx, &ids(&spent)).await?;
    }
    tx.commit().await?;
    Ok(Swept { n_rescued: alive.len(), n_given_up: spent.len() })
}

async fn requeue(tx: &mut PgConnection, jobs: &[JobId]) -> Result<(), sqlx::Error> {
    let tickets: Vec<String> = jobs.iter().map(|_| TicketId::fresh().text()).collect();
    sqlx::query(
        "with freed as (
             update jobs j set state = 'queued', worker = null, last_error = 'its worker died or lost it'
             from unnest($1::uuid[], $2::text[]) as o (id, ticket) where j.id = o.id
             returning j.id, o.ticket, j.queue, j.priority, j.max_attempts)
         insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority)
         select ticket, queue, convert_to(to_json(id::text)::text, 'UTF8'), 'Pending', 0, max_attempts, now(), priority
         from freed",
    )
    .bind(jobs)
    .bind(&tickets)
    .execute(tx)
    .await?;
    Ok(())
}

async fn give_up(tx: &mut PgConnection, jobs: &[JobId]) -> Result<(), sqlx::Error> {
    sqlx::query(
        "with ended as (
             update jobs set state = 'failed', worker = null, ended_at = now(), outcome = $2,
                 last_error = 'its worker died or lost it, and it had no attempt left'
             where id = any($1) returning id),
         upload as (delete from uploads u using ended where u.job_id = ended.id)
         select pg_notify($3, id::text) from ended",
    )
    .bind(jobs)
    .bind(Json(Outcome::Failed))
    .bind(JOB_ENDED)
    .execute(tx)
    .await?;
    Ok(())
}

/// Gives a new ticket to jobs that have waited for `age` and have none; how many. Every statement that
/// drops a ticket has a reason to; this is the floor under a crash that forgets the reason.
pub async fn reissue(db: &PgPool, age: Duration) -> Result<u64, sqlx::Error> {
    let reissued = sqlx::query(
        "insert into apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, priority)
         select apalis.generate_ulid(), j.queue, convert_to(to_json(j.id::text)::text, 'UTF8'), 'Pending', 0,
             j.max_attempts, now(), j.priority
         from jobs j
         where j.state = 'queued' and j.created_at < now() - make_interval(secs => $1) and not exists (
             select from apalis.jobs t where t.job = convert_to(to_json(j.id::text)::text, 'UTF8'))
         limit $2",
    )
    .bind(age.as_secs_f64())
    .bind(SWEEP_LIMIT)
    .execute(db)
    .await?;
    Ok(reissued.rows_affected())
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
