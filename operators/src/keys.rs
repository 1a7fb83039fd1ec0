//! Keys, and the quotas and webhooks of their accounts: lists, creates, limits, rotates and revokes them.

use std::{fmt, time::Duration};

use akhar_accounts::{NameError, NewKey, Quotas, Role, check_name, set_quotas};
use akhar_platform::database::Pool;
use akhar_webhooks::{CallerUrl, UrlChange, WebhookChange, WebhookSecret};
use chrono::{DateTime, Utc};
use serde::Serialize;
use sqlx::PgConnection;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::audit::{Action, Actor, ChangeError, Forbidden};

/// Whether a key works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, sqlx::Type)]
#[serde(rename_all = "lowercase")]
#[sqlx(type_name = "text", rename_all = "lowercase")]
pub enum KeyState {
    /// It works.
    Works,
    /// Its time is over.
    Expired,
    /// An operator has revoked it.
    Revoked,
}

/// A key, with the quotas and the webhook of its account. The key itself is not known.
#[derive(Debug, Clone, Serialize, sqlx::FromRow, ToSchema)]
#[schema(as = AdminKey)]
pub struct Key {
    /// The key's id.
    pub id: Uuid,
    /// The 8 characters after `ak_`.
    pub prefix: String,
    /// The name that the operator gave it.
    pub name: String,
    /// The account that it belongs to.
    pub account_id: Uuid,
    /// What it may do as an operator's: `view`, `operate` or `admin`. `null` if it is only a caller's.
    #[schema(value_type = Option<String>)]
    pub role: Option<Role>,
    /// `works`, `expired` or `revoked`.
    #[schema(value_type = String)]
    pub state: KeyState,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When a request last had it, to a minute.
    pub last_used_at: Option<DateTime<Utc>>,
    /// When it stops working. `null` if it works until it is revoked.
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was revoked.
    pub revoked_at: Option<DateTime<Utc>>,
    /// Whether rotation made another key in its place.
    pub is_replaced: bool,
    /// Requests in a minute, in each api process.
    pub rpm: Option<i32>,
    /// Jobs that may wait in each queue.
    pub max_queued: Option<i32>,
    /// Minutes of recordings in a day (UTC).
    pub audio_minutes: Option<i32>,
    /// Megabytes of uploads and results that may be stored. `null` for as many as the server allows.
    pub stored_mb: Option<i32>,
    /// Seconds for which ended jobs are kept if a request does not say so.
    pub retain_s: Option<i32>,
    /// The most seconds for which a request may have its job kept.
    pub max_retain_s: Option<i32>,
    /// Where the ends of the account's jobs are announced if a request does not say so.
    pub webhook_url: Option<String>,
    /// Seconds until it expires, by the clock of the database. Negative if it has expired.
    #[serde(skip)]
    pub expires_in_s: Option<f64>,
}

/// A key that was just made, rotated or revoked.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct KeyInfo {
    /// `api_keys.id`.
    pub id: Uuid,
    /// The 8 characters after `ak_`.
    pub prefix: String,
    /// The name that the operator gave it.
    pub name: String,
    account_id: Uuid,
    created_at: DateTime<Utc>,
    role: Option<Role>,
    expires_at: Option<DateTime<Utc>>,
    replaced_by: Option<Uuid>,
}

/// The columns of a [`KeyInfo`].
macro_rules! key_columns {
    () => {
        "api_keys.id, api_keys.account_id, api_keys.name, api_keys.prefix, api_keys.created_at, api_keys.role, api_keys.expires_at,
         api_keys.replaced_by"
    };
}

impl KeyInfo {
    /// How the audit trail names it.
    fn target(&self) -> String {
        format!("{} ({})", self.prefix, self.name)
    }
}

/// A new key.
#[derive(Clone, Serialize, ToSchema)]
#[schema(as = AdminNewKey)]
pub struct CreatedKey {
    /// The key. This is its only copy.
    pub key: String,
    /// The 8 characters after `ak_`, by which it is named from now on.
    pub prefix: String,
    /// `api_keys.id`.
    #[serde(skip)]
    pub id: Uuid,
}

impl CreatedKey {
    fn of(info: KeyInfo, key: &NewKey) -> Self {
        Self { key: key.expose().to_owned(), prefix: info.prefix, id: info.id }
    }
}

impl fmt::Debug for CreatedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CreatedKey").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// Characters of an entered prefix or id that an error shows: the length of a prefix. The rest may be a secret.
const MAX_SHOWN: usize = 8;

/// Why a key could not be created, listed, revoked, rotated or limited, or its webhook not be changed.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The name of an account or a key cannot be one.
    #[error("the name {0}")]
    Name(#[from] NameError),
    /// No key has this prefix or id, or the key is revoked already.
    #[error("no working key has the prefix or id {0:?}; `akhar keys list` shows all keys")]
    NotFound(String),
    /// No account has this name or id, and no key this prefix.
    #[error("no account has the name or id {0:?}, and no key this prefix; `akhar keys list` shows all keys")]
    NoAccount(String),
    /// Several accounts have this name.
    #[error("several accounts have the name {0:?}: give the prefix of a key, as `akhar keys list` shows it")]
    SeveralAccounts(String),
    /// The key was rotated before.
    #[error("the key {0:?} was rotated before: rotate the new one, which `akhar keys list` shows")]
    Replaced(String),
    /// The operator may not do this.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// A statement failed, or the connection was lost.
    #[error("database error: {0}")]
    Database(#[from] sqlx::Error),
}

impl From<ChangeError> for KeyError {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::Forbidden(forbidden) => forbidden.into(),
            ChangeError::Database(error) => error.into(),
        }
    }
}

/// An account that is to be created.
#[derive(Debug, Clone, Default)]
pub struct NewAccount {
    /// Its name, which is also that of its key.
    pub name: String,
    /// What it may use.
    pub quotas: Quotas,
    /// Where the ends of its jobs are announced.
    pub webhook: Option<CallerUrl>,
    /// What its key may do as an operator's. `None` if it is only a caller's.
    pub role: Option<Role>,
    /// How long its key works. `None` if it works until it is revoked.
    pub lifetime: Option<Duration>,
}

/// Creates an account and its first key.
pub async fn create(db: &Pool, actor: &Actor, account: NewAccount) -> Result<CreatedKey, KeyError> {
    let entry = actor.begin(Action::KeyCreate)?;
    let NewAccount { name, quotas, webhook, role, lifetime } = account;
    check_name(&name)?;
    db.transaction(move |tx| {
        Box::pin(async move {
            let account_id = Uuid::now_v7();
            sqlx::query("insert into accounts (id, name) values ($1, $2)")
                .bind(account_id)
                .bind(&name)
                .execute(&mut *tx)
                .await?;
            let _ = set_quotas(tx, account_id, quotas).await?; // the account is new
            if let Some(url) = webhook {
                let change = WebhookChange { url: UrlChange::Replace(url), is_rotated: false };
                akhar_webhooks::set(tx, account_id, &change).await?;
            }
            let (info, key) = insert(tx, account_id, &name, role, lifetime).await?;
            entry.record(tx, &info.target(), 1).await?;
            Ok(CreatedKey::of(info, &key))
        })
    })
    .await
}

/// All keys, also revoked ones, the oldest first.
pub async fn list(db: &Pool) -> Result<Vec<Key>, sqlx::Error> {
    let mut keys = page(db, None, i64::MAX).await?;
    keys.reverse();
    Ok(keys)
}

/// At most `limit` keys, also revoked ones, the newest first: those that were created before the key `before`.
pub async fn page(db: &Pool, before: Option<Uuid>, limit: i64) -> Result<Vec<Key>, sqlx::Error> {
    sqlx::query_as(
        "select k.id, k.prefix, k.name, k.account_id, k.role, k.created_at, k.last_used_at, k.expires_at, k.revoked_at,
             case when k.revoked_at is not null then 'revoked' when k.expires_at <= now() then 'expired' else 'works' end as state,
             k.replaced_by is not null as is_replaced, extract(epoch from k.expires_at - now())::float8 as expires_in_s,
             a.requests_per_minute as rpm, a.max_queued, a.audio_minutes_per_day as audio_minutes, a.stored_mb, a.retain_s,
             a.max_retain_s, a.webhook_url
         from api_keys k join accounts a on a.id = k.account_id where $1::uuid is null or k.id < $1
         order by k.id desc limit $2",
    )
    .bind(before)
    .bind(limit)
    .fetch_all(db)
    .await
}

/// Revokes a key. All api processes are notified and stop accepting it. The account keeps its jobs and its other
/// keys.
pub async fn revoke(db: &Pool, actor: &Actor, prefix_or_id: &str) -> Result<KeyInfo, KeyError> {
    let entry = actor.begin(Action::KeyRevoke)?;
    let prefix_or_id = prefix_or_id.to_owned();
    db.transaction(move |tx| {
        Box::pin(async move {
            let revoked = find(tx, &prefix_or_id).await?;
            let revoke = sqlx::query("update api_keys set revoked_at = now() where id = $1");
            revoke.bind(revoked.id).execute(&mut *tx).await?;
            entry.record(tx, &revoked.target(), 1).await?;
            Ok(revoked)
        })
    })
    .await
}

/// Creates a new key with the account, name, role and lifetime of an old one, which works for `overlap` more, or not at all.
/// The new key gives access to all jobs of the account.
pub async fn rotate(
    db: &Pool,
    actor: &Actor,
    prefix_or_id: &str,
    overlap: Duration,
) -> Result<CreatedKey, KeyError> {
    let entry = actor.begin(Action::KeyRotate)?;
    let prefix_or_id = prefix_or_id.to_owned();
    db.transaction(move |tx| {
        Box::pin(async move {
            let old = find(tx, &prefix_or_id).await?;
            if old.replaced_by.is_some() {
                return Err(KeyError::Replaced(old.prefix));
            }
            let lifetime = old.expires_at.and_then(|at| (at - old.created_at).to_std().ok());
            let (new, key) = insert(tx, old.account_id, &old.name, old.role, lifetime).await?;
            sqlx::query(
                "update api_keys set replaced_by = $2, revoked_at = case when $3 = 0 then now() end,
                     expires_at = case when $3 = 0 then expires_at else least(expires_at, now() + make_interval(secs => $3)) end
                 where id = $1",
            )
            .bind(old.id)
            .bind(new.id)
            .bind(overlap.as_secs_f64())
            .execute(&mut *tx)
            .await?;
            entry.record(tx, &old.target(), 1).await?;
            Ok(CreatedKey::of(new, &key))
        })
    })
    .await
}

/// Changes when a key expires, also of one that has expired: after this time from now, or never.
pub async fn expire(
    db: &Pool,
    actor: &Actor,
    prefix_or_id: &str,
    lifetime: Option<Duration>,
) -> Result<KeyInfo, KeyError> {
    let entry = actor.begin(Action::KeyExpire)?;
    let prefix_or_id = prefix_or_id.to_owned();
    db.transaction(move |tx| {
        Box::pin(async move {
            let key = find(tx, &prefix_or_id).await?;
            let changed = sqlx::query(
                "update api_keys set expires_at = now() + make_interval(secs => $2)
                 where id = $1 and (expires_at is not null or $2 is not null)",
            )
            .bind(key.id)
            .bind(lifetime.map(|lifetime| lifetime.as_secs_f64()))
            .execute(&mut *tx)
            .await?;
            entry.record(tx, &key.target(), usize::from(changed.rows_affected() > 0)).await?;
            Ok(key)
        })
    })
    .await
}

/// Replaces the quotas of a key's account, and so of all its keys. All api processes are notified.
pub async fn limit(db: &Pool, actor: &Actor, prefix_or_id: &str, quotas: Quotas) -> Result<(), KeyError> {
    let entry = actor.begin(Action::KeyLimit)?;
    let prefix_or_id = prefix_or_id.to_owned();
    db.transaction(move |tx| {
        Box::pin(async move {
            let key = find(tx, &prefix_or_id).await?;
            let is_changed = set_quotas(tx, key.account_id, quotas).await?;
            Ok(entry.record(tx, &key.target(), usize::from(is_changed)).await?)
        })
    })
    .await
}

/// Changes the webhook of a key's account, and so of all its keys. All api processes are notified. Returns the secret,
/// which is a new one if the account had none.
pub async fn webhook(
    db: &Pool,
    actor: &Actor,
    prefix_or_id: &str,
    change: &WebhookChange,
) -> Result<WebhookSecret, KeyError> {
    let entry = actor.begin(Action::KeyWebhook)?;
    let prefix_or_id = prefix_or_id.to_owned();
    let change = change.clone();
    db.transaction(move |tx| {
        Box::pin(async move {
            let key = find(tx, &prefix_or_id).await?;
            let (secret, is_changed) = akhar_webhooks::set(tx, key.account_id, &change).await?;
            entry.record(tx, &key.target(), usize::from(is_changed)).await?;
            Ok(secret)
        })
    })
    .await
}

async fn insert(
    db: &mut PgConnection,
    account_id: Uuid,
    name: &str,
    role: Option<Role>,
    lifetime: Option<Duration>,
) -> Result<(KeyInfo, NewKey), KeyError> {
    let key = NewKey::random();
    let info = sqlx::query_as(concat!(
        "insert into api_keys (id, account_id, name, prefix, secret_sha256, role, expires_at)
         values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7)) returning ",
        key_columns!()
    ))
    .bind(Uuid::now_v7())
    .bind(account_id)
    .bind(name)
    .bind(key.prefix())
    .bind(key.sha256().as_slice())
    .bind(role)
    .bind(lifetime.map(|lifetime| lifetime.as_secs_f64()))
    .fetch_one(db)
    .await?;
    Ok((info, key))
}

/// A key that is not revoked, locked until the end of the transaction.
async fn find(db: &mut PgConnection, prefix_or_id: &str) -> Result<KeyInfo, KeyError> {
    let found = sqlx::query_as(concat!(
        "select ",
        key_columns!(),
        " from api_keys where (prefix = $1 or id = $2) and revoked_at is null for update"
    ))
    .bind(prefix_in(prefix_or_id))
    .bind(Uuid::try_parse(prefix_or_id).ok())
    .fetch_optional(db)
    .await?;
    found.ok_or_else(|| not_found(prefix_or_id))
}

fn not_found(prefix_or_id: &str) -> KeyError {
    KeyError::NotFound(shown(prefix_or_id))
}

/// What an error shows of what a person entered.
pub(crate) fn shown(entered: &str) -> String {
    prefix_in(entered).chars().take(MAX_SHOWN).collect()
}

/// The prefix in what a person entered: the prefix alone, `ak_` and the prefix, or a whole key.
pub(crate) fn prefix_in(entered: &str) -> &str {
    let Some(key) = entered.strip_prefix("ak_") else { return entered };
    key.split_once('_').map_or(key, |(prefix, _)| prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_is_found_in_a_whole_key() {
        let key = NewKey::random();
        assert_eq!(prefix_in(key.expose()), key.prefix());
        assert_eq!(prefix_in(&format!("ak_{}", key.prefix())), key.prefix());
        assert_eq!(prefix_in(key.prefix()), key.prefix());
    }
}
