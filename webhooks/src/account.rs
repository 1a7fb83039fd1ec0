//! The webhook of an account: where the ends of its jobs are announced unless a request says otherwise, and the secrets
//! that sign.

use akhar_platform::database::Pool;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{caller_urls::CallerUrl, secret::WebhookSecret};

/// Hours for which webhooks are also signed with the secret before the last rotation.
const FORMER_SIGNS_HOURS: i32 = 24;

/// What changes about the URL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum UrlChange {
    /// Nothing.
    #[default]
    Keep,
    /// The account has none any more.
    Remove,
    /// This is its URL from now on.
    Replace(CallerUrl),
}

/// What changes about the webhook of an account. In any case the account has a secret afterwards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WebhookChange {
    /// What changes about the URL.
    pub url: UrlChange,
    /// Whether the account gets a new secret. For a day webhooks are signed with the former one too.
    pub is_rotated: bool,
}

/// Changes the webhook of an account. Returns the secret, which is a new one if the account had none, and whether anything
/// was changed.
pub async fn set(
    db: &mut PgConnection,
    account_id: Uuid,
    change: &WebhookChange,
) -> Result<(WebhookSecret, bool), sqlx::Error> {
    let url = match &change.url {
        UrlChange::Replace(url) => Some(url.as_str()),
        UrlChange::Keep | UrlChange::Remove => None,
    };
    let (secret, is_changed): (Vec<u8>, bool) = sqlx::query_as(
        "with old as (select id, webhook_url, webhook_secret from accounts where id = $1 for update)
         update accounts a set
             webhook_url = case when $2 then a.webhook_url else $3 end,
             former_webhook_secret = case when $4 then a.webhook_secret else a.former_webhook_secret end,
             former_webhook_secret_until =
                 case when $4 then now() + make_interval(hours => $5) else a.former_webhook_secret_until end,
             webhook_secret = case when $4 or a.webhook_secret is null then $6 else a.webhook_secret end
         from old where a.id = old.id
         returning a.webhook_secret,
             (a.webhook_url, a.webhook_secret) is distinct from (old.webhook_url, old.webhook_secret)",
    )
    .bind(account_id)
    .bind(change.url == UrlChange::Keep)
    .bind(url)
    .bind(change.is_rotated)
    .bind(FORMER_SIGNS_HOURS)
    .bind(WebhookSecret::random().bytes())
    .fetch_one(db)
    .await?;
    Ok((secret.into(), is_changed))
}

/// The secrets that sign the webhooks of an account now, the newest first. None if the account has no secret.
pub async fn signing_secrets(db: &Pool, account_id: Uuid) -> Result<Vec<WebhookSecret>, sqlx::Error> {
    let secrets: Option<Vec<Vec<u8>>> = sqlx::query_scalar(
        "select array_remove(array[webhook_secret,
             case when former_webhook_secret_until > now() then former_webhook_secret end], null)
         from accounts where id = $1",
    )
    .bind(account_id)
    .fetch_optional(db)
    .await?;
    Ok(secrets.into_iter().flatten().map(WebhookSecret::from).collect())
}
