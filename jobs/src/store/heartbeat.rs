//! Records that a worker process is alive, or that it has stopped.

use sqlx::PgPool;

/// Records a heartbeat of `worker`, which adds the worker if it is new.
pub async fn beat(db: &PgPool, worker: &str) -> Result<(), sqlx::Error> {
    sqlx::query("insert into workers (name) values ($1) on conflict (name) do update set seen_at = now()")
        .bind(worker)
        .execute(db)
        .await?;
    Ok(())
}

/// Deletes a worker that has stopped. The jobs that it still held count as lost immediately (see [`super::lost`]).
pub async fn leave(db: &PgPool, worker: &str) -> Result<(), sqlx::Error> {
    sqlx::query("delete from workers where name = $1").bind(worker).execute(db).await?;
    Ok(())
}
