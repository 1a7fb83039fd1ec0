//! All SQL on API keys that callers' requests need: the key of a request, and its use.

use akhar_platform::database::Pool;
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use crate::{
    Role,
    quotas::Quotas,
    secret::{Prefix, PresentedKey, prefix_text},
    tokens::Scope,
};

/// The Postgres channel on which a change to a key is announced. The payload is `api_keys.id`.
pub const API_KEY_CHANGED: &str = "api_key_changed";

/// A key that is not revoked or a token, as authentication needs it.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct WorkingKey {
    /// `api_keys.id`.
    pub id: Uuid,
    /// The account that the key belongs to.
    pub account_id: Uuid,
    /// The prefix of the key, also if this is a token of it.
    pub key_prefix: String,
    /// SHA-256 of the whole key or token.
    pub secret_sha256: Vec<u8>,
    /// The name that the operator gave it.
    pub name: String,
    /// What it may do as an operator's. `None` if it is only a caller's, or a token.
    pub role: Option<Role>,
    /// Seconds from the statement that found it until it expires. Negative if it has expired.
    pub expires_in_s: Option<f64>,
    /// What it may be used for, if it is a token of the key `id`.
    pub scope: Option<Json<Scope>>,
    /// The quotas of the account.
    #[sqlx(flatten)]
    pub quotas: Quotas,
    /// The webhook of the account.
    #[sqlx(flatten)]
    pub webhook: AccountWebhook,
}

/// The webhook of an account, without its secret.
#[derive(Debug, Clone, Default, PartialEq, Eq, sqlx::FromRow)]
pub struct AccountWebhook {
    /// Where the ends of its jobs are announced. `None` if only those are announced whose requests name a URL.
    #[sqlx(rename = "webhook_url")]
    pub url: Option<String>,
    /// Whether it has a secret. Without one, no webhook is sent.
    #[sqlx(rename = "has_webhook_secret")]
    pub has_secret: bool,
}

/// A working key with its prefix.
#[derive(sqlx::FromRow)]
struct FoundKey {
    prefix: String,
    #[sqlx(flatten)]
    key: WorkingKey,
}

impl WorkingKey {
    /// Whether the presented key is this key. The comparison takes constant time.
    pub fn matches(&self, presented: &PresentedKey) -> bool {
        presented.has_sha256(&self.secret_sha256)
    }

    /// Whether it has expired.
    pub fn is_expired(&self) -> bool {
        self.expires_in_s.is_some_and(|s| s <= 0.0)
    }
}

/// Records that a request had a key, unless that was recorded within the last minute.
pub async fn note_use(db: &Pool, id: Uuid) -> Result<(), sqlx::Error> {
    let note = "update api_keys set last_used_at = now()
         where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')";
    sqlx::query(note).bind(id).execute(db).await?;
    Ok(())
}

/// Whether a key was ever created. Revoked keys count.
pub async fn any(db: &Pool) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("select exists (select from api_keys)").fetch_one(db).await
}

/// For each of the prefixes the key with it if there is one that is not revoked, also if it has expired, or the token with it that
/// has not expired.
pub async fn find_working(
    db: &mut PgConnection,
    prefixes: &[Prefix],
) -> Result<Vec<Option<WorkingKey>>, sqlx::Error> {
    let query = "select found.prefix, k.id, k.account_id, k.prefix as key_prefix, k.name, found.secret_sha256, case when found.scope is null then k.role end as role,
            found.scope, extract(epoch from least(found.expires_at, k.expires_at) - now())::float8 as expires_in_s,
            a.requests_per_minute, a.max_queued, a.audio_minutes_per_day, a.stored_mb,
            a.retain_s, a.max_retain_s, a.webhook_url, a.webhook_secret is not null as has_webhook_secret
         from (
             select id, prefix, secret_sha256, null::jsonb as scope, null::timestamptz as expires_at
             from api_keys where prefix = any($1)
             union all
             select key_id, prefix, secret_sha256, jsonb_build_object('operation', operation, 'origin', origin), expires_at
             from tokens where prefix = any($1) and expires_at > now()
         ) found join api_keys k on k.id = found.id join accounts a on a.id = k.account_id
         where k.revoked_at is null";
    let texts: Vec<&str> = prefixes.iter().map(prefix_text).collect();
    let found: Vec<FoundKey> = sqlx::query_as(query).bind(&texts).fetch_all(db).await?;
    let key =
        |prefix: &&str| found.iter().find(|found| found.prefix == **prefix).map(|found| found.key.clone());
    Ok(texts.iter().map(key).collect())
}
