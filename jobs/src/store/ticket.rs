//! Delivery: tickets are taken by a consumer, dropped, or returned. apalis owns their table; these are the
//! statements on it that are ours.

use sqlx::PgPool;
use ulid::Ulid;

use crate::{JobId, Queue, TicketId};

use super::{
    claim::{Claimed, ClaimedRow},
    unreadable,
};

/// A ticket in a consumer's hands, and its job if that could be claimed.
#[derive(Debug)]
pub struct Taken {
    /// The ticket.
    pub ticket: TicketId,
    /// The job it names; none when it names none.
    pub job: Option<JobId>,
    /// The job, claimed; none when it was not queued.
    pub claimed: Option<Claimed>,
    /// Further tickets of the queue are due.
    pub more: bool,
}

#[derive(sqlx::FromRow)]
struct TakenRow {
    ticket: String,
    named: Option<JobId>,
    more: bool,
    #[sqlx(flatten)]
    claimed: ClaimedRow,
}

/// Takes the most urgent due ticket of a queue for `consumer` and claims its job for `worker`, counting
/// the attempt. `None`: nothing is due.
///
/// This need not be durable: if Postgres forgets it in a crash, ticket and job wait again, and the finish
/// of the attempt, finding no such claim, changes nothing. `db` may therefore be a pool with
/// `synchronous_commit` off.
pub async fn take(
    db: &PgPool,
    queue: Queue,
    consumer: &str,
    worker: &str,
) -> Result<Option<Taken>, sqlx::Error> {
    let row: Option<TakenRow> = sqlx::query_as(
        r#"with due as (
             select id, encode(job, 'escape') as payload from apalis.jobs
             where job_type = $1 and status = 'Pending' and run_at <= now()
             order by priority desc, run_at limit 1 for update skip locked),
         taken as (
             update apalis.jobs t set status = 'Queued', lock_by = $2, lock_at = now()
             from due where t.id = due.id
             returning t.id,
                 case when payload ~ '^"[0-9a-f-]{36}"$' then btrim(payload, '"')::uuid end as named),
         claimed as (
             update jobs j set state = 'running', attempt = attempt + 1, worker = $3, started_at = now()
             from taken where j.id = taken.named and j.state = 'queued' and j.attempt < j.max_attempts
             returning j.id, j.attempt, j.max_attempts, j.parameters, j.request_id, j.traceparent)
         select t.id as ticket, t.named,
             exists (select from apalis.jobs m where m.job_type = $1 and m.status = 'Pending'
                 and m.run_at <= now() and m.id <> t.id) as more,
             c.id as job_id, c.attempt, c.max_attempts, c.parameters, c.request_id, c.traceparent,
             u.media_type, u.bytes
         from taken t left join claimed c on true left join uploads u on u.job_id = c.id"#,
    )
    .bind(queue.name())
    .bind(consumer)
    .bind(worker)
    .fetch_optional(db)
    .await?;
    row.map(TakenRow::into_taken).transpose()
}

impl TakenRow {
    fn into_taken(self) -> Result<Taken, sqlx::Error> {
        let ticket = Ulid::from_string(&self.ticket).map_err(|_| unreadable("ticket", &self.ticket))?;
        Ok(Taken {
            ticket: TicketId(ticket),
            job: self.named,
            claimed: self.claimed.into_claimed()?,
            more: self.more,
        })
    }
}

/// Drops a ticket that delivers nothing any more: its job is over, or another attempt has it.
pub async fn drop_ticket(db: &PgPool, ticket: TicketId) -> Result<(), sqlx::Error> {
    sqlx::query("delete from apalis.jobs where id = $1").bind(ticket.text()).execute(db).await?;
    Ok(())
}

/// Returns a ticket to the queue whose attempt came to nothing: the job was moved meanwhile, or Postgres
/// crashed and forgot the claim. Delivered again, it finds out which.
pub async fn return_ticket(db: &PgPool, ticket: TicketId) -> Result<(), sqlx::Error> {
    sqlx::query("update apalis.jobs set status = 'Pending', lock_by = null, lock_at = null where id = $1")
        .bind(ticket.text())
        .execute(db)
        .await?;
    Ok(())
}

/// Returns the tickets a stopped consumer of the queue still holds, so that others need not wait until
/// it counts as dead. One it had delivered already delivers nothing the second time.
pub async fn release_tickets(db: &PgPool, consumer: &str) -> Result<u64, sqlx::Error> {
    let released = sqlx::query(
        "update apalis.jobs set status = 'Pending', lock_by = null, lock_at = null
         where lock_by = $1 and status = 'Queued'",
    )
    .bind(consumer)
    .execute(db)
    .await?;
    Ok(released.rows_affected())
}
