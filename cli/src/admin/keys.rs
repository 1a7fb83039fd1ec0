//! Keys.

use std::time::Duration;

use akhar_accounts::{
    CallerUrl, NewAccount, Quotas, Role, UrlRules, keys,
    webhooks::{UrlChange, WebhookChange},
};
use akhar_api::admin::documents;
use akhar_client::{AdminKeyBody, AdminKeysBody, AdminNewKeyBody};
use serde_json::json;
use uuid::Uuid;

use super::{Admin, pages, refused, segment, with_query};
use crate::failure::Failure;

/// A key that is to be created.
#[derive(Debug)]
pub(crate) struct NewKey {
    pub(crate) name: String,
    pub(crate) quotas: Quotas,
    pub(crate) webhook: Option<String>,
    pub(crate) role: Option<Role>,
    pub(crate) lifetime: Option<Duration>,
}

/// What the options say about the URL of a webhook.
#[derive(Debug)]
pub(crate) enum UrlOption {
    Keep,
    Remove,
    Replace(String),
}

impl Admin {
    /// All keys, the oldest first.
    pub(crate) async fn keys(&self) -> Result<Vec<AdminKeyBody>, Failure> {
        let page = async |before, n| {
            let page = self.keys_page(before, n).await?;
            Ok((page.keys, page.next))
        };
        let mut keys = pages(usize::MAX, page).await?;
        keys.reverse();
        Ok(keys)
    }

    async fn keys_page(&self, before: Option<Uuid>, limit: u8) -> Result<AdminKeysBody, Failure> {
        match self {
            Self::Database { db, .. } => Ok(documents::keys(db, before, limit).await?),
            Self::Server { client, base } => {
                let before = before.map(|id| id.to_string());
                let path = with_query("keys", &[("before", before), ("limit", Some(limit.to_string()))]);
                client.admin(&path).await.map_err(refused(base))
            }
        }
    }

    /// Creates an account with a key.
    pub(crate) async fn create_key(&self, new: NewKey) -> Result<AdminNewKeyBody, Failure> {
        let NewKey { name, quotas, webhook, role, lifetime } = new;
        match self {
            Self::Database { db, actor, rules } => {
                let webhook = webhook.map(|url| webhook_url(rules, &url)).transpose()?;
                let account = NewAccount { name, quotas, webhook, role, lifetime };
                let (info, key) = keys::create(db, actor, account).await?;
                Ok(documents::new_key(info, &key))
            }
            Self::Server { client, base } => {
                let mut body = quotas_body(quotas);
                body.insert("name".to_owned(), name.into());
                let optional = [
                    ("role", role.map(|role| role.name().into())),
                    ("expires-s", lifetime.map(|lifetime| lifetime.as_secs().into())),
                    ("webhook", webhook.map(Into::into)),
                ];
                body.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
                client.admin_change("keys", &body).await.map_err(refused(base))
            }
        }
    }

    /// Replaces the quotas of a key's account.
    pub(crate) async fn limit_key(&self, prefix: &str, quotas: Quotas) -> Result<(), Failure> {
        match self {
            Self::Database { db, actor, .. } => Ok(keys::limit(db, actor, prefix, quotas).await?),
            Self::Server { client, base } => {
                let path = format!("keys/{}/quotas", segment(prefix));
                client.admin_set(&path, &quotas_body(quotas)).await.map_err(refused(base))
            }
        }
    }

    /// Replaces a key with a new one.
    pub(crate) async fn rotate_key(
        &self,
        prefix: &str,
        overlap: Duration,
    ) -> Result<AdminNewKeyBody, Failure> {
        match self {
            Self::Database { db, actor, .. } => {
                let (info, key) = keys::rotate(db, actor, prefix, overlap).await?;
                Ok(documents::new_key(info, &key))
            }
            Self::Server { client, base } => {
                let path = format!("keys/{}/rotate", segment(prefix));
                let body = json!({"overlap-s": overlap.as_secs()});
                client.admin_change(&path, &body).await.map_err(refused(base))
            }
        }
    }

    /// Revokes a key.
    pub(crate) async fn revoke_key(&self, prefix: &str) -> Result<(), Failure> {
        match self {
            Self::Database { db, actor, .. } => Ok(keys::revoke(db, actor, prefix).await.map(drop)?),
            Self::Server { client, base } => {
                client.admin_delete(&format!("keys/{}", segment(prefix))).await.map_err(refused(base))
            }
        }
    }

    /// Changes the webhook of a key's account, and returns the secret that signs webhooks. A server does not give it.
    pub(crate) async fn key_webhook(
        &self,
        prefix: &str,
        url: UrlOption,
        is_rotated: bool,
    ) -> Result<String, Failure> {
        let Self::Database { db, actor, rules } = self else {
            let text = "this command needs the database, because a server gives no secrets of webhooks: leave --url out";
            return Err(Failure::Command(text.to_owned()));
        };
        let url = match url {
            UrlOption::Keep => UrlChange::Keep,
            UrlOption::Remove => UrlChange::Remove,
            UrlOption::Replace(url) => UrlChange::Replace(webhook_url(rules, &url)?),
        };
        Ok(keys::webhook(db, actor, prefix, &WebhookChange { url, is_rotated }).await?.text())
    }
}

/// A URL that webhooks may be sent to.
fn webhook_url(rules: &UrlRules, url: &str) -> Result<CallerUrl, Failure> {
    rules.parse(url).map_err(|error| Failure::Command(format!("the URL of the webhook {error}")))
}

/// The quotas as fields of a request.
fn quotas_body(quotas: Quotas) -> serde_json::Map<String, serde_json::Value> {
    let fields = [
        ("rpm", quotas.requests_per_minute),
        ("max-queued", quotas.max_queued),
        ("audio-minutes", quotas.audio_minutes_per_day),
        ("stored-mb", quotas.stored_mb),
        ("retain-s", quotas.retention.retain_s),
        ("max-retain-s", quotas.retention.max_retain_s),
    ];
    fields.into_iter().filter_map(|(name, n)| Some((name.to_owned(), n?.into()))).collect()
}
