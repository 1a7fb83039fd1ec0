//! Statements of the queue on any connection of a pool.

use akhar_jobs::{
    NewJob,
    store::{self, Ending, Ends, Submitted},
};
use sqlx::PgPool;

/// Submits jobs.
pub async fn submit(db: &PgPool, jobs: &[&NewJob]) -> Result<Vec<Submitted>, sqlx::Error> {
    store::submit(&mut *db.acquire().await?, jobs).await
}

/// Ends jobs.
pub async fn end(db: &PgPool, endings: &[Ending]) -> Result<Ends, sqlx::Error> {
    store::end(&mut *db.acquire().await?, endings).await
}
