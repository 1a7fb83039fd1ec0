//! Counts the waiting jobs of a queue, by account.

use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::Queue;

/// The waiting jobs of one account in one queue.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct WaitingJobs {
    /// The account.
    pub account_id: Uuid,
    /// The number of jobs.
    pub n: i64,
    /// How many of them were waiting at the time that the caller of [`waiting`] gave.
    pub n_earlier: i64,
    /// The time of the count, the same for all rows.
    pub counted_at: DateTime<Utc>,
}

/// Counts the waiting jobs of a queue, by account. Jobs that were also waiting at the time `earlier` are
/// counted again in [`WaitingJobs::n_earlier`].
pub async fn waiting(
    db: &Pool,
    queue: Queue,
    earlier: Option<DateTime<Utc>>,
) -> Result<Vec<WaitingJobs>, sqlx::Error> {
    sqlx::query_as(
        "select account_id, count(*) as n, count(*) filter (where created_at <= $2) as n_earlier, now() as counted_at
         from jobs where queue = $1 and ended_at is null and state = 'queued' group by account_id",
    )
    .bind(queue.name())
    .bind(earlier)
    .fetch_all(db)
    .await
}
