//! How much an account may use.

use sqlx::PgConnection;
use uuid::Uuid;

/// How much an account may use. `None` means that there is no limit. All numbers are at least 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, sqlx::FromRow)]
pub struct Quotas {
    /// Requests in a minute, in each api process.
    pub requests_per_minute: Option<i32>,
    /// Jobs that wait in one queue.
    pub max_queued: Option<i32>,
    /// Minutes of recordings in a day (UTC).
    pub audio_minutes_per_day: Option<i32>,
}

/// Replaces the quotas of an account.
pub(crate) async fn set(db: &mut PgConnection, account_id: Uuid, quotas: Quotas) -> Result<(), sqlx::Error> {
    sqlx::query(
        "update accounts set requests_per_minute = $2, max_queued = $3, audio_minutes_per_day = $4 where id = $1",
    )
    .bind(account_id)
    .bind(quotas.requests_per_minute)
    .bind(quotas.max_queued)
    .bind(quotas.audio_minutes_per_day)
    .execute(db)
    .await?;
    Ok(())
}
