//! The database schema: a pool comes in; apalis's tables and ours come out, each at its newest version.

use apalis_postgres::PostgresStorage;
use sqlx::{Connection as _, PgConnection, PgPool};

/// Serialises migration between processes: any number may start at once. The number is arbitrary.
const MIGRATION_LOCK: i64 = 0x616b_6861_7200;

/// Why the schema could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// The database refused or went away.
    #[error("database: {0}")]
    Database(#[from] sqlx::Error),
    /// The queue's own tables could not be made; often the `hstore` extension is missing.
    #[error("the queue's tables (they need Postgres's hstore extension): {0}")]
    Queue(#[from] apalis_postgres::Error),
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
    PostgresStorage::setup(db).await?;
    sqlx::migrate!("./sql").run(db).await?;
    Ok(())
}
