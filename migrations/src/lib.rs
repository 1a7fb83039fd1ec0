//! The database schema, and the function that brings a database up to date with it.

use sqlx::{Connection as _, PgConnection, PgPool};

/// The key of an advisory lock, so that only one of several starting processes migrates at a time. The number is
/// arbitrary.
const MIGRATION_LOCK: i64 = 0x616b_6861_7200;

/// Why the schema could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A statement failed, or the connection was lost.
    #[error("cannot migrate the database: {0}")]
    Database(#[from] sqlx::Error),
    /// A migration failed, or the file of an applied migration was changed or is missing.
    #[error("cannot migrate the database schema: {0}")]
    Schema(#[from] sqlx::migrate::MigrateError),
}

/// Applies all pending migrations. Does nothing if there are none. Concurrent callers, also in other processes, wait
/// for each other.
pub async fn migrate(db: &PgPool) -> Result<(), MigrateError> {
    let mut lock = db.acquire().await?.detach();
    sqlx::query("select pg_advisory_lock($1)").bind(MIGRATION_LOCK).execute(&mut lock).await?;
    let migrated = migrate_locked(db).await;
    let closed = PgConnection::close(lock).await; // closing the connection releases the lock
    migrated?;
    Ok(closed?)
}

async fn migrate_locked(db: &PgPool) -> Result<(), MigrateError> {
    sqlx::migrate!("./sql").run(db).await?;
    Ok(())
}
