//! The list of accounts for operators.

use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::Quotas;

/// An account in the list of all accounts.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct ListedAccount {
    /// `accounts.id`.
    pub id: Uuid,
    /// The name that the operator gave it.
    pub name: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// The number of its keys that work.
    pub n_keys: i64,
    /// Its quotas.
    #[sqlx(flatten)]
    pub quotas: Quotas,
    /// The webhook of jobs whose request names none.
    pub webhook_url: Option<String>,
}

/// At most `limit` accounts, the newest first: those that were made before the account `before`.
pub async fn list_accounts(
    db: &Pool,
    before: Option<Uuid>,
    limit: i64,
) -> Result<Vec<ListedAccount>, sqlx::Error> {
    sqlx::query_as(
        "select a.id, a.name, a.created_at, a.requests_per_minute, a.max_queued, a.audio_minutes_per_day, a.stored_mb, a.retain_s,
             a.max_retain_s, a.webhook_url,
             (select count(*) from api_keys k where k.account_id = a.id and k.revoked_at is null
                 and (k.expires_at is null or k.expires_at > now())) as n_keys
         from accounts a where $1::uuid is null or a.id < $1 order by a.id desc limit $2",
    )
    .bind(before)
    .bind(limit)
    .fetch_all(db)
    .await
}
