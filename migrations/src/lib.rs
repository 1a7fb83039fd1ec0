//! The database schema, and the functions that bring a database up to date with it and check that it is.

use akhar_platform::database::{Pool, transaction, unlimited};
use sqlx::{PgConnection, PgExecutor, migrate::Migrator};

/// The key of an advisory lock, so that only one of several starting processes migrates at a time. The number is
/// arbitrary.
const MIGRATION_LOCK: i64 = 0x616b_6861_7200;

/// The code of Postgres for a table that does not exist.
const UNDEFINED_TABLE: &str = "42P01";

/// Why the schema could not be brought up to date.
#[derive(Debug, thiserror::Error)]
pub enum MigrateError {
    /// A statement failed, or the connection was lost.
    #[error("cannot migrate the database: {0}")]
    Database(#[from] sqlx::Error),
    /// A migration failed, or the file of an applied migration was changed or is missing.
    #[error("cannot migrate the database schema: {0}")]
    Schema(#[from] sqlx::migrate::MigrateError),
    /// A newer version has migrated the database, and this version cannot run with it.
    #[error(transparent)]
    Newer(#[from] SchemaError),
}

/// Why a process cannot use the schema of its database.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The query failed, or the connection was lost.
    #[error("cannot read the version of the database schema: {0}")]
    Database(#[from] sqlx::Error),
    /// Migrations are missing. Holds their number.
    #[error("the database schema is {0} migrations behind this version of akhar: run `akhar migrate` first")]
    Behind(usize),
    /// A migration was applied that this version does not know, and this version cannot run with it.
    #[error(
        "the database schema is too new for this version of akhar: migration {0} was applied to it. Use the version of \
         akhar that ran `akhar migrate`, or a newer one"
    )]
    Newer(i64),
}

/// Checks that all migrations of this version are applied to the database, and that this version can run with those of
/// newer versions, if there are any.
pub async fn check(db: &Pool) -> Result<(), SchemaError> {
    let known: Vec<i64> = migrator().iter().map(|migration| migration.version).collect();
    let applied = applied(db).await?;
    check_newer(db, &known, &applied).await?;
    match known.iter().filter(|version| !applied.contains(version)).count() {
        0 => Ok(()),
        n => Err(SchemaError::Behind(n)),
    }
}

/// The versions of the applied migrations.
async fn applied(db: impl PgExecutor<'_>) -> Result<Vec<i64>, sqlx::Error> {
    match sqlx::query_scalar("select version from _sqlx_migrations where success").fetch_all(db).await {
        Err(sqlx::Error::Database(error)) if error.code().is_some_and(|code| code == UNDEFINED_TABLE) => {
            Ok(Vec::new())
        }
        applied => applied,
    }
}

/// Fails if a migration that this version does not know makes the schema unusable for it.
async fn check_newer(db: impl PgExecutor<'_>, known: &[i64], applied: &[i64]) -> Result<(), SchemaError> {
    let Some(unknown) = applied.iter().find(|version| !known.contains(version)) else { return Ok(()) };
    let oldest: i64 =
        sqlx::query_scalar("select oldest_version from schema_compatibility").fetch_one(db).await?;
    if known.contains(&oldest) { Ok(()) } else { Err(SchemaError::Newer(*unknown)) }
}

fn migrator() -> Migrator {
    sqlx::migrate!("./sql")
}

/// Applies all pending migrations. Does nothing if there are none, also if a newer version has applied others that this
/// one can run with. Concurrent callers, also in other processes, wait
/// for each other.
pub async fn migrate(db: &Pool) -> Result<(), MigrateError> {
    let mut db = [db.servers().connect().await?, db.servers().connect().await?];
    for db in &mut db {
        unlimited(db).await?; // a migration may take hours, and so may waiting for that of another process
    }
    let [mut lock, mut db] = db;
    transaction(&mut lock, async move |lock: &mut PgConnection| {
        // The lock is the transaction's, because a pooler may share its connection afterwards.
        sqlx::query("set local idle_in_transaction_session_timeout = 0").execute(&mut *lock).await?;
        sqlx::query("select pg_advisory_xact_lock($1)").bind(MIGRATION_LOCK).execute(&mut *lock).await?;
        migrate_locked(&mut db).await
    })
    .await
}

async fn migrate_locked(db: &mut PgConnection) -> Result<(), MigrateError> {
    let mut migrator = migrator();
    let known: Vec<i64> = migrator.iter().map(|migration| migration.version).collect();
    let applied = applied(&mut *db).await?;
    check_newer(&mut *db, &known, &applied).await?;
    migrator.set_ignore_missing(true).set_locking(false).run_direct(None, db, false).await?;
    Ok(())
}
