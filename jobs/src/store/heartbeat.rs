//! Records that a worker process is alive, or that it has stopped.

use std::time::Duration;

use sqlx::PgPool;

use super::Orders;

/// A worker counts as dead when it has sent no heartbeat for this long.
pub const DEAD_AFTER: Duration = Duration::from_secs(3);

/// Records a heartbeat of `worker`, which adds the worker if it is new. Returns what it may do.
pub async fn beat(db: &PgPool, worker: &str) -> Result<Orders, sqlx::Error> {
    sqlx::query_as(
        "with beat as (
             insert into workers (name) values ($1) on conflict (name) do update set seen_at = now()
             returning is_draining)
         select is_draining, array(select queue from queue_controls where mode = 'paused') as paused from beat",
    )
    .bind(worker)
    .fetch_one(db)
    .await
}

/// Whether any worker is alive and claims jobs.
pub async fn any_alive(db: &PgPool) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(
        "select exists (
             select from workers where seen_at > now() - make_interval(secs => $1) and not is_draining)",
    )
    .bind(DEAD_AFTER.as_secs_f64())
    .fetch_one(db)
    .await
}

/// Deletes a worker that has stopped. The jobs that it still held count as lost immediately (see [`super::lost`]).
pub async fn leave(db: &PgPool, worker: &str) -> Result<(), sqlx::Error> {
    sqlx::query("delete from workers where name = $1").bind(worker).execute(db).await?;
    Ok(())
}
