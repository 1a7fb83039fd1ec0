//! All SQL on tokens: short-lived keys for web pages, each for one operation and the pages of one origin. The statement that
//! finds the key of a request finds them too.

use std::time::Duration;

use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use serde::Deserialize;
use uuid::Uuid;

use crate::secret::NewKey;

/// The most tokens of a key at a time.
pub const MAX_TOKENS: i64 = 10_000;

/// What a token may be used for.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Scope {
    /// The name of the only operation.
    pub operation: String,
    /// The origin of the pages.
    pub origin: String,
}

/// Creates a token of a key, and deletes those of the key that have expired. Returns the token, whose only copy this is, and when
/// it expires; `None` if the key has [`MAX_TOKENS`] already.
pub async fn create(
    db: &Pool,
    key_id: Uuid,
    (operation, origin): (&str, &str),
    lifetime: Duration,
) -> Result<Option<(NewKey, DateTime<Utc>)>, sqlx::Error> {
    let token = NewKey::random_token();
    sqlx::query("delete from tokens where key_id = $1 and expires_at <= now()")
        .bind(key_id)
        .execute(db)
        .await?;
    let expires_at = sqlx::query_scalar(
        "insert into tokens (prefix, key_id, secret_sha256, operation, origin, expires_at)
         select $1, $2, $3, $4, $5, now() + make_interval(secs => $6)
         where (select count(*) from tokens where key_id = $2) < $7
         returning expires_at",
    )
    .bind(token.prefix())
    .bind(key_id)
    .bind(token.sha256().as_slice())
    .bind(operation)
    .bind(origin)
    .bind(lifetime.as_secs_f64())
    .bind(MAX_TOKENS)
    .fetch_optional(db)
    .await?;
    Ok(expires_at.map(|expires_at| (token, expires_at)))
}
