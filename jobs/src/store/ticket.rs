//! Delivery: tickets are taken by a consumer, dropped, or returned. apalis owns their table; these are the
//! statements on it that are ours.

use sqlx::PgPool;
use ulid::Ulid;

use crate::{Queue, TicketId};

use super::unreadable;

/// Takes up to `n` due tickets of a queue for `consumer`, the most urgent first; with what each carries.
///
/// The same as apalis's own fetch, which is a function that Postgres plans anew at every call; as a
/// statement it takes a third of the time.
pub async fn take_tickets(
    db: &PgPool,
    queue: Queue,
    consumer: &str,
    n: usize,
) -> Result<Vec<(TicketId, Vec<u8>)>, sqlx::Error> {
    let rows: Vec<(String, Vec<u8>)> = sqlx::query_as(
        "with due as (
             select id from apalis.jobs
             where job_type = $1 and status = 'Pending' and run_at <= now()
             order by priority desc, run_at limit $3 for update skip locked)
         update apalis.jobs t set status = 'Queued', lock_by = $2, lock_at = now()
         from due where t.id = due.id
         returning t.id, t.job",
    )
    .bind(queue.name())
    .bind(consumer)
    .bind(i64::try_from(n).unwrap_or(i64::MAX))
    .fetch_all(db)
    .await?;
    let ticket = |id: &str| Ulid::from_string(id).map(TicketId).map_err(|_| unreadable("ticket", id));
    rows.into_iter().map(|(id, payload)| Ok((ticket(&id)?, payload))).collect()
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
