//! All SQL on the sessions of the operations page. They are in the database, so that every api process knows them. Only the
//! SHA-256 of a session's id is stored.

use std::time::Duration;

use akhar_accounts::Role;
use akhar_platform::database::Pool;
use secrecy::{ExposeSecret as _, SecretString};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

/// A session ends this long after the operator signed in.
pub const MAX_AGE: Duration = Duration::from_secs(12 * 3600);

/// A session ends when it was not used for this long.
pub const MAX_IDLE: Duration = Duration::from_secs(3600);

/// The most sessions at a time. A further one ends the oldest.
const MAX_SESSIONS: i64 = 100;

/// The random id of a session, which is a secret.
#[derive(Debug, Clone)]
pub struct SessionId(SecretString);

impl SessionId {
    /// A new random id.
    pub fn random() -> Self {
        let bytes: [u8; 32] = rand::random();
        Self(hex::encode(bytes).into())
    }

    /// The id that a client sent. `None` if the text is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let is_id = text.len() == 64 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        is_id.then(|| Self(text.to_owned().into()))
    }

    /// The text, for the client's cookie.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// A token that only a page of this session has. The id cannot be found from it.
    pub fn form_token(&self) -> String {
        hex::encode(Sha256::digest(format!("form token of {}", self.expose())))
    }

    fn sha256(&self) -> [u8; 32] {
        Sha256::digest(self.expose()).into()
    }
}

/// An operator who is signed in.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct OpsSession {
    /// The operator's key.
    pub key_id: Uuid,
    /// The name of the key.
    pub name: String,
    /// The 8 characters after `ak_` of the key.
    pub prefix: String,
    /// What the key may do.
    pub role: Role,
}

/// Begins a session of this operator's key, and deletes sessions that have ended.
pub async fn begin(db: &Pool, id: &SessionId, key_id: Uuid) -> Result<(), sqlx::Error> {
    sqlx::query(
        "delete from ops_sessions where id_sha256 not in (
             select id_sha256 from ops_sessions
             where created_at > now() - make_interval(secs => $1) and seen_at > now() - make_interval(secs => $2)
             order by created_at desc limit $3)",
    )
    .bind(MAX_AGE.as_secs_f64())
    .bind(MAX_IDLE.as_secs_f64())
    .bind(MAX_SESSIONS - 1)
    .execute(db)
    .await?;
    sqlx::query("insert into ops_sessions (id_sha256, key_id) values ($1, $2)")
        .bind(id.sha256().as_slice())
        .bind(key_id)
        .execute(db)
        .await?;
    Ok(())
}

/// The session with this id, which counts as used. `None` if there is none, if it has ended, or if its key is revoked
/// or has expired.
pub async fn find(db: &Pool, id: &SessionId) -> Result<Option<OpsSession>, sqlx::Error> {
    sqlx::query_as(
        "with seen as (
             update ops_sessions set seen_at = now()
             where id_sha256 = $1 and seen_at < now() - interval '1 minute'
                 and seen_at > now() - make_interval(secs => $3) returning id_sha256)
         select s.key_id, k.name, k.prefix, k.role from ops_sessions s join api_keys k on k.id = s.key_id
         where s.id_sha256 = $1 and k.revoked_at is null and (k.expires_at is null or k.expires_at > now())
             and k.role is not null
             and s.created_at > now() - make_interval(secs => $2) and s.seen_at > now() - make_interval(secs => $3)",
    )
    .bind(id.sha256().as_slice())
    .bind(MAX_AGE.as_secs_f64())
    .bind(MAX_IDLE.as_secs_f64())
    .fetch_optional(db)
    .await
}

/// Ends a session.
pub async fn end(db: &Pool, id: &SessionId) -> Result<(), sqlx::Error> {
    sqlx::query("delete from ops_sessions where id_sha256 = $1")
        .bind(id.sha256().as_slice())
        .execute(db)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_from_its_text_and_is_not_in_its_debug_text_or_token() {
        let id = SessionId::random();
        assert_eq!(SessionId::parse(id.expose()).unwrap().expose(), id.expose());
        assert!(!format!("{id:?}").contains(id.expose()));
        assert_ne!(id.form_token(), id.expose());
        assert_eq!(id.form_token(), SessionId::parse(id.expose()).unwrap().form_token());
        assert_ne!(id.form_token(), SessionId::random().form_token());
        for odd in ["", "x", &id.expose()[1..], &id.expose().to_uppercase().replace('0', "A")] {
            assert!(SessionId::parse(odd).is_none(), "{odd}");
        }
    }
}
