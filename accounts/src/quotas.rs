//! How much an account may use.

use sqlx::PgConnection;
use uuid::Uuid;

/// How much an account may use. `None` means that there is no limit. All numbers but those of seconds are at least 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, sqlx::FromRow)]
pub struct Quotas {
    /// Requests in a minute, in each api process.
    pub requests_per_minute: Option<i32>,
    /// Jobs that wait in one queue.
    pub max_queued: Option<i32>,
    /// Minutes of recordings in a day (UTC).
    pub audio_minutes_per_day: Option<i32>,
    /// Megabytes of its jobs that may be stored. `None` for as many as the server allows.
    pub stored_mb: Option<i32>,
    /// How long its jobs are kept.
    #[sqlx(flatten)]
    pub retention: Retention,
}

/// How long the jobs of an account are kept after their ends, seconds. `None` for as long as the server keeps jobs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, sqlx::FromRow)]
pub struct Retention {
    /// If the request does not say so. 0 until the outcome is delivered.
    pub retain_s: Option<i32>,
    /// The most that a request may ask for.
    pub max_retain_s: Option<i32>,
}

/// Replaces the quotas of an account. Returns `false` if they are these already.
pub async fn set(db: &mut PgConnection, account_id: Uuid, quotas: Quotas) -> Result<bool, sqlx::Error> {
    let changed = sqlx::query(
        "update accounts set requests_per_minute = $2, max_queued = $3, audio_minutes_per_day = $4, retain_s = $5, max_retain_s = $6,
             stored_mb = $7
         where id = $1 and (requests_per_minute, max_queued, audio_minutes_per_day, retain_s, max_retain_s, stored_mb)
             is distinct from ($2, $3, $4, $5, $6, $7)",
    )
    .bind(account_id)
    .bind(quotas.requests_per_minute)
    .bind(quotas.max_queued)
    .bind(quotas.audio_minutes_per_day)
    .bind(quotas.retention.retain_s)
    .bind(quotas.retention.max_retain_s)
    .bind(quotas.stored_mb)
    .execute(db)
    .await?;
    Ok(changed.rows_affected() > 0)
}
