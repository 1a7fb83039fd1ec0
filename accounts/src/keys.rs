//! Rows of accounts and API keys: create, list, revoke, rotate, and the look-up behind every request.

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

use crate::secret::{NewKey, Prefix, PresentedKey, prefix_text};

/// Postgres channel on which a change to a key is announced; the payload is `api_keys.id`.
pub const API_KEY_CHANGED: &str = "api_key_changed";

/// What an operator may know of a key. The key itself is stored nowhere.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct KeyInfo {
    /// `api_keys.id`.
    pub id: Uuid,
    /// The account it belongs to.
    pub account_id: Uuid,
    /// The operator's name for it.
    pub name: String,
    /// The 8 characters after `ak_`.
    pub prefix: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it stopped working; none while it works.
    pub revoked_at: Option<DateTime<Utc>>,
}

/// A key that works, as authentication needs it.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct WorkingKey {
    /// `api_keys.id`.
    pub id: Uuid,
    /// The account it belongs to.
    pub account_id: Uuid,
    /// SHA-256 of the whole key.
    pub secret_sha256: Vec<u8>,
}

impl WorkingKey {
    /// Whether the presented key is this one, in time that does not depend on the answer.
    pub fn matches(&self, presented: &PresentedKey) -> bool {
        presented.has_sha256(&self.secret_sha256)
    }
}

/// Why a key could not be made or changed.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The name is empty or too long.
    #[error("the name must have 1 to 200 characters")]
    Name,
    /// Nothing has this prefix or id, or it is revoked already.
    #[error("no working key has the prefix or id {0:?}")]
    NotFound(String),
    /// The database refused or went away.
    #[error("database: {0}")]
    Database(#[from] sqlx::Error),
}

/// Makes an account of this name with a first key. The [`NewKey`] is the only copy there will ever be.
pub async fn create(db: &PgPool, name: &str) -> Result<(KeyInfo, NewKey), KeyError> {
    if name.trim().is_empty() || name.chars().count() > 200 {
        return Err(KeyError::Name);
    }
    let mut tx = db.begin().await?;
    let account_id = Uuid::now_v7();
    sqlx::query("insert into accounts (id, name) values ($1, $2)")
        .bind(account_id)
        .bind(name)
        .execute(&mut *tx)
        .await?;
    let created = insert(&mut tx, account_id, name).await?;
    tx.commit().await?;
    Ok(created)
}

/// Every key, revoked ones too, oldest first.
pub async fn list(db: &PgPool) -> Result<Vec<KeyInfo>, KeyError> {
    let keys = "select id, account_id, name, prefix, created_at, revoked_at from api_keys order by id";
    Ok(sqlx::query_as(keys).fetch_all(db).await?)
}

/// Stops a key from working, everywhere, at once. Its account keeps its jobs and its other keys.
pub async fn revoke(db: &PgPool, prefix_or_id: &str) -> Result<KeyInfo, KeyError> {
    let mut connection = db.acquire().await?;
    end(&mut connection, prefix_or_id).await
}

/// Replaces a key by a new one of the same account and name. The old one stops working; the account's jobs stay
/// reachable.
pub async fn rotate(db: &PgPool, prefix_or_id: &str) -> Result<(KeyInfo, NewKey), KeyError> {
    let mut tx = db.begin().await?;
    let old = end(&mut tx, prefix_or_id).await?;
    let new = insert(&mut tx, old.account_id, &old.name).await?;
    tx.commit().await?;
    Ok(new)
}

/// Whether any key was ever made.
pub async fn any(db: &PgPool) -> Result<bool, KeyError> {
    Ok(sqlx::query_scalar("select exists (select from api_keys)").fetch_one(db).await?)
}

/// The working key with this prefix, if there is one.
pub async fn find_working(db: &PgPool, prefix: &Prefix) -> Result<Option<WorkingKey>, sqlx::Error> {
    let query = "select id, account_id, secret_sha256 from api_keys where prefix = $1 and revoked_at is null";
    sqlx::query_as(query).bind(prefix_text(prefix)).fetch_optional(db).await
}

async fn insert(db: &mut PgConnection, account_id: Uuid, name: &str) -> Result<(KeyInfo, NewKey), KeyError> {
    let key = NewKey::random();
    let info = sqlx::query_as(
        "insert into api_keys (id, account_id, name, prefix, secret_sha256) values ($1, $2, $3, $4, $5)
         returning id, account_id, name, prefix, created_at, revoked_at",
    )
    .bind(Uuid::now_v7())
    .bind(account_id)
    .bind(name)
    .bind(key.prefix())
    .bind(key.sha256().as_slice())
    .fetch_one(db)
    .await?;
    Ok((info, key))
}

async fn end(db: &mut PgConnection, prefix_or_id: &str) -> Result<KeyInfo, KeyError> {
    let ended = sqlx::query_as(
        "update api_keys set revoked_at = now() where (prefix = $1 or id = $2) and revoked_at is null
         returning id, account_id, name, prefix, created_at, revoked_at",
    )
    .bind(prefix_or_id.strip_prefix("ak_").unwrap_or(prefix_or_id))
    .bind(Uuid::try_parse(prefix_or_id).ok())
    .fetch_optional(db)
    .await?;
    ended.ok_or_else(|| KeyError::NotFound(prefix_or_id.to_owned()))
}
