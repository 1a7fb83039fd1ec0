//! All SQL on accounts and API keys: create, list, revoke, rotate and limit keys, change their webhooks, and look up the key
//! of a request.

use std::time::Duration;

use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use sqlx::{PgConnection, types::Json};
use uuid::Uuid;

use crate::{
    Role,
    audit::{Action, Actor, ChangeError, Forbidden},
    caller_urls::CallerUrl,
    name::{NameError, check_name},
    quotas::{self, Quotas},
    secret::{NewKey, Prefix, PresentedKey, prefix_text},
    tokens::Scope,
    webhook_secret::WebhookSecret,
    webhooks::{self, AccountWebhook, UrlChange, WebhookChange},
};

/// The Postgres channel on which a change to a key is announced. The payload is `api_keys.id`.
pub const API_KEY_CHANGED: &str = "api_key_changed";

/// A key as it is shown to operators. The key itself is not stored.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct KeyInfo {
    /// `api_keys.id`.
    pub id: Uuid,
    /// The account that the key belongs to.
    pub account_id: Uuid,
    /// The name that the operator gave it.
    pub name: String,
    /// The 8 characters after `ak_`.
    pub prefix: String,
    /// When it was created.
    pub created_at: DateTime<Utc>,
    /// When it was revoked. `None` while it works.
    pub revoked_at: Option<DateTime<Utc>>,
    /// When a request last had it, to a minute. `None` if none had.
    pub last_used_at: Option<DateTime<Utc>>,
    /// What it may do as an operator's. `None` if it is only a caller's.
    pub role: Option<Role>,
    /// When it stops working. `None` if it works until it is revoked.
    pub expires_at: Option<DateTime<Utc>>,
    /// Seconds until then. Negative if it has expired.
    pub expires_in_s: Option<f64>,
    /// The key that rotation made in its place.
    pub replaced_by: Option<Uuid>,
}

/// The columns of a [`KeyInfo`].
macro_rules! key_columns {
    () => {
        "api_keys.id, api_keys.account_id, api_keys.name, api_keys.prefix, api_keys.created_at, api_keys.revoked_at,
         api_keys.last_used_at, api_keys.role, api_keys.expires_at, api_keys.replaced_by,
         extract(epoch from api_keys.expires_at - now())::float8 as expires_in_s"
    };
}

impl KeyInfo {
    /// Whether it is neither revoked nor expired.
    pub fn works(&self) -> bool {
        self.revoked_at.is_none() && self.expires_in_s.is_none_or(|s| s > 0.0)
    }

    /// How the audit trail names it.
    fn target(&self) -> String {
        format!("{} ({})", self.prefix, self.name)
    }
}

/// A key in the list of all keys.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct ListedKey {
    /// The key.
    #[sqlx(flatten)]
    pub key: KeyInfo,
    /// The quotas of its account.
    #[sqlx(flatten)]
    pub quotas: Quotas,
    /// The webhook of its account.
    #[sqlx(flatten)]
    pub webhook: AccountWebhook,
}

/// Characters of an entered prefix or id that an error shows: the length of a prefix. The rest may be a secret.
const MAX_SHOWN: usize = 8;

/// A key that is not revoked or a token, as authentication needs it.
#[derive(Debug, Clone, sqlx::FromRow)]
pub struct WorkingKey {
    /// `api_keys.id`.
    pub id: Uuid,
    /// The account that the key belongs to.
    pub account_id: Uuid,
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

/// Creates an account and its first key. The returned [`NewKey`] is the only copy of the key.
pub async fn create(db: &Pool, actor: &Actor, account: NewAccount) -> Result<(KeyInfo, NewKey), KeyError> {
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
            let _ = quotas::set(tx, account_id, quotas).await?; // the account is new
            if let Some(url) = webhook {
                let change = WebhookChange { url: UrlChange::Replace(url), is_rotated: false };
                webhooks::set(tx, account_id, &change).await?;
            }
            let (info, key) = insert(tx, account_id, &name, role, lifetime).await?;
            entry.record(tx, &info.target(), 1).await?;
            Ok((info, key))
        })
    })
    .await
}

/// Lists all keys, including revoked ones, the oldest first.
pub async fn list(db: &Pool) -> Result<Vec<ListedKey>, KeyError> {
    let mut keys = page(db, None, i64::MAX).await?;
    keys.reverse();
    Ok(keys)
}

/// At most `limit` keys, including revoked ones, the newest first: those that were created before the key `before`.
pub async fn page(db: &Pool, before: Option<Uuid>, limit: i64) -> Result<Vec<ListedKey>, KeyError> {
    let keys = concat!(
        "select ",
        key_columns!(),
        ", a.requests_per_minute, a.max_queued, a.audio_minutes_per_day, a.stored_mb, a.retain_s, a.max_retain_s,
            a.webhook_url, a.webhook_secret is not null as has_webhook_secret
         from api_keys join accounts a on a.id = api_keys.account_id where $1::uuid is null or api_keys.id < $1
         order by api_keys.id desc limit $2"
    );
    Ok(sqlx::query_as(keys).bind(before).bind(limit).fetch_all(db).await?)
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
) -> Result<(KeyInfo, NewKey), KeyError> {
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
            Ok((new, key))
        })
    })
    .await
}

/// Records that a request had a key, unless that was recorded within the last minute.
pub async fn note_use(db: &Pool, id: Uuid) -> Result<(), sqlx::Error> {
    let note = "update api_keys set last_used_at = now()
         where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')";
    sqlx::query(note).bind(id).execute(db).await?;
    Ok(())
}

/// Replaces the quotas of a key's account, and so of all its keys. All api processes are notified.
pub async fn limit(db: &Pool, actor: &Actor, prefix_or_id: &str, quotas: Quotas) -> Result<(), KeyError> {
    let entry = actor.begin(Action::KeyLimit)?;
    let prefix_or_id = prefix_or_id.to_owned();
    db.transaction(move |tx| {
        Box::pin(async move {
            let key = find(tx, &prefix_or_id).await?;
            let is_changed = quotas::set(tx, key.account_id, quotas).await?;
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
            let (secret, is_changed) = webhooks::set(tx, key.account_id, &change).await?;
            entry.record(tx, &key.target(), usize::from(is_changed)).await?;
            Ok(secret)
        })
    })
    .await
}

/// The account with this name or id, or that of a key with this prefix or id, also of a revoked one.
pub async fn find_account(db: &Pool, entered: &str) -> Result<Uuid, KeyError> {
    let accounts: Vec<Uuid> = sqlx::query_scalar(
        "select account_id from api_keys where prefix = $1 or id = $2
         union select id from accounts where id = $2 or name = $3",
    )
    .bind(prefix_in(entered))
    .bind(Uuid::try_parse(entered).ok())
    .bind(entered)
    .fetch_all(db)
    .await?;
    match accounts[..] {
        [account] => Ok(account),
        [] => Err(KeyError::NoAccount(shown(entered))),
        _ => Err(KeyError::SeveralAccounts(shown(entered))),
    }
}

/// Whether a key was ever created. Revoked keys count.
pub async fn any(db: &Pool) -> Result<bool, KeyError> {
    Ok(sqlx::query_scalar("select exists (select from api_keys)").fetch_one(db).await?)
}

/// For each of the prefixes the key with it if there is one that is not revoked, also if it has expired, or the token with it that
/// has not expired.
pub async fn find_working(
    db: &mut PgConnection,
    prefixes: &[Prefix],
) -> Result<Vec<Option<WorkingKey>>, sqlx::Error> {
    let query = "select found.prefix, k.id, k.account_id, k.name, found.secret_sha256, case when found.scope is null then k.role end as role,
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
fn shown(entered: &str) -> String {
    prefix_in(entered).chars().take(MAX_SHOWN).collect()
}

/// The prefix in what a person entered: the prefix alone, `ak_` and the prefix, or a whole key.
fn prefix_in(entered: &str) -> &str {
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
