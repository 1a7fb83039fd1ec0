//! Records that a worker process is alive, or that it has stopped.

use std::time::Duration;

use sqlx::PgPool;

/// A worker counts as dead when it has sent no heartbeat for this long.
pub const DEAD_AFTER: Duration = Duration::from_secs(3);

/// Records a heartbeat of `worker`, which adds the worker if it is new.
pub async fn beat(db: &PgPool, worker: &str) -> Result<(), sqlx::Error> {
    sqlx::query("insert into workers (name) values ($1) on conflict (name) do update set seen_at = now()")
        .bind(worker)
        .execute(db)
        .await?;
    Ok(())
}

/// Whether any worker is alive.
pub async fn any_alive(db: &PgPool) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(
        "select exists (select from workers where seen_at > now() - make_interval(secs => $1))",
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
