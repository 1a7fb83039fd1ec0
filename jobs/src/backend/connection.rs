//! The connection of a task that executes one statement after another. A pool tests a connection before and after each
//! use, which would add two round trips to every statement.

use std::time::{Duration, Instant};

use sqlx::{Connection as _, PgConnection, PgPool};

/// Idle time after which a connection is tested before it is used. A restart of the server may have closed it.
const MAX_UNTESTED_IDLE: Duration = Duration::from_millis(500);

/// A connection that is opened when it is first used, and again after it was lost.
#[derive(Debug)]
pub(super) struct TaskConnection {
    pool: PgPool,
    kept: Option<(PgConnection, Instant)>,
}

impl TaskConnection {
    /// A connection like those of the pool, which opens it. Does not connect yet.
    pub(super) fn like(pool: &PgPool) -> Self {
        Self { pool: pool.clone(), kept: None }
    }

    /// Takes the open connection, unless the server has closed it, or connects.
    pub(super) async fn take(&mut self) -> Result<PgConnection, sqlx::Error> {
        if let Some((mut db, used_at)) = self.kept.take()
            && (used_at.elapsed() <= MAX_UNTESTED_IDLE || db.ping().await.is_ok())
        {
            return Ok(db);
        }
        Ok(self.pool.acquire().await?.detach())
    }

    /// Keeps the connection for the next statement.
    pub(super) fn keep(&mut self, db: PgConnection) {
        self.kept = Some((db, Instant::now()));
    }
}
