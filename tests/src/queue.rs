//! Statements of the queue on any connection of a pool.

use akhar_jobs::{
    NewJob,
    store::{self, Ending, Ends, Submitted},
};
use akhar_platform::database::Pool;
use sqlx::PgConnection;

/// Submits jobs.
pub async fn submit(db: &Pool, jobs: &[&NewJob]) -> Result<Vec<Submitted>, sqlx::Error> {
    db.with(async |db: &mut PgConnection| store::submit(db, jobs).await).await
}

/// Ends jobs.
pub async fn end(db: &Pool, endings: &[Ending]) -> Result<Ends, sqlx::Error> {
    db.with(async |db: &mut PgConnection| store::end(db, endings).await).await
}
