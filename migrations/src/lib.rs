//! The database schema: brought to its newest version.

use sqlx::{Connection as _, PgConnection, PgPool};

/// Serialises migration between processes: any number may start at once. The number is arbitrary.
const MIGRATION_LOCK: i64 = 0x616b_6861_7200;

/// Why the schema could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The database refused or went away.
    #[error("database: {0}")]
    Database(#[from] sqlx::Error),
    /// One of our files failed, or an applied one has changed since.
    #[error("schema: {0}")]
    Schema(#[from] sqlx::migrate::MigrateError),
}

/// Applies every pending migration. Idempotent; concurrent callers wait for each other.
pub async fn migrate(db: &PgPool) -> Result<(), MigrateError> {
    let mut lock = db.acquire().await?.detach();
    sqlx::query("select pg_advisory_lock($1)").bind(MIGRATION_LOCK).execute(&mut lock).await?;
    let migrated = migrate_locked(db).await;
    let closed = PgConnection::close(lock).await; // ends the session, and with it the lock
    migrated?;
    Ok(closed?)
}

async fn migrate_locked(db: &PgPool) -> Result<(), MigrateError> {
    sqlx::migrate!("./sql").run(db).await?;
    Ok(())
}
