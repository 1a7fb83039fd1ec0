//! A worker process says it is alive, and that it is leaving.

use sqlx::PgPool;

/// Records that `worker` is alive now.
pub async fn beat(db: &PgPool, worker: &str) -> Result<(), sqlx::Error> {
    sqlx::query("insert into workers (name) values ($1) on conflict (name) do update set seen_at = now()")
        .bind(worker)
        .execute(db)
        .await?;
    Ok(())
}

/// Forgets a worker that has stopped; what it still held is free at once.
pub async fn leave(db: &PgPool, worker: &str) -> Result<(), sqlx::Error> {
    sqlx::query("delete from workers where name = $1").bind(worker).execute(db).await?;
    Ok(())
}
