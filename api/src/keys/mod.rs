//! API keys: a name comes in and a key goes out, shown once; later the key comes in and its caller goes out.

mod secret;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};
use uuid::Uuid;

pub use secret::NewKey;
pub(crate) use secret::{Prefix, PresentedKey, prefix_text};

/// Postgres channel on which a change to a key is announced; the payload is `api_keys.id`.
pub(crate) const API_KEY_CHANGED: &str = "api_key_changed";

/// What is known of a key; the key itself is not.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct KeyInfo {
    /// Its identity, and its caller's.
    pub id: Uuid,
    /// What the operator called it.
    pub name: String,
    /// The 8 characters after `ak_`.
    pub prefix: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it stopped working; none while it works.
    pub revoked_at: Option<DateTime<Utc>>,
}

/// Why a key could not be made or changed.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A name nobody could find it by.
    #[error("a key's name has 1 to 200 characters")]
    Name,
    /// Nothing has this prefix or id, or it is revoked already.
    #[error("no working key has the prefix or id {0:?}")]
    NotFound(String),
    /// The database refused or went away.
    #[error("database: {0}")]
    Database(#[from] sqlx::Error),
}

/// Makes a key. The [`NewKey`] is the only copy there will ever be.
pub async fn create(db: &PgPool, name: &str) -> Result<(KeyInfo, NewKey), KeyError> {
    if name.trim().is_empty() || name.chars().count() > 200 {
        return Err(KeyError::Name);
    }
    let mut connection = db.acquire().await?;
    insert(&mut connection, name).await
}

/// Every key, revoked ones too, oldest first.
pub async fn list(db: &PgPool) -> Result<Vec<KeyInfo>, KeyError> {
    let keys = sqlx::query_as("select id, name, prefix, created_at, revoked_at from api_keys order by id");
    Ok(keys.fetch_all(db).await?)
}

/// Stops a key from working, everywhere, at once.
pub async fn revoke(db: &PgPool, prefix_or_id: &str) -> Result<KeyInfo, KeyError> {
    let mut connection = db.acquire().await?;
    end(&mut connection, prefix_or_id).await
}

/// Replaces a key by a new one of the same name; the old one stops working.
pub async fn rotate(db: &PgPool, prefix_or_id: &str) -> Result<(KeyInfo, NewKey), KeyError> {
    let mut tx = db.begin().await?;
    let old = end(&mut tx, prefix_or_id).await?;
    let new = insert(&mut tx, &old.name).await?;
    tx.commit().await?;
    Ok(new)
}

/// Whether any key was ever made.
pub async fn any(db: &PgPool) -> Result<bool, KeyError> {
    Ok(sqlx::query_scalar("select exists (select from api_keys)").fetch_one(db).await?)
}

async fn insert(db: &mut PgConnection, name: &str) -> Result<(KeyInfo, NewKey), KeyError> {
    let key = NewKey::random();
    let info = sqlx::query_as(
        "insert into api_keys (id, name, prefix, secret_sha256) values ($1, $2, $3, $4)
         returning id, name, prefix, created_at, revoked_at",
    )
    .bind(Uuid::now_v7())
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
         returning id, name, prefix, created_at, revoked_at",
    )
    .bind(prefix_or_id.strip_prefix("ak_").unwrap_or(prefix_or_id))
    .bind(Uuid::try_parse(prefix_or_id).ok())
    .fetch_optional(db)
    .await?;
    ended.ok_or_else(|| KeyError::NotFound(prefix_or_id.to_owned()))
}
