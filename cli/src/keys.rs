//! `akhar keys`: creates, lists, limits, revokes and rotates API keys, and changes the webhooks of their accounts.

use std::{iter, time::Duration};

use akhar_accounts::{Quotas, Retention, Role};
use akhar_operators::{
    keys::{self, Key, KeyState, NewAccount},
    until::lifetime,
};
use akhar_platform::{config::Config, database::Pool};
use akhar_webhooks::{CallerUrl, UrlChange, UrlRules, WebhookChange};

use crate::{actor, connect, failure::Failure, output};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Create an account and its first key, and print the key to stdout. It cannot be shown again
    Create {
        /// A name for the account and the key, such as who uses it
        #[arg(long)]
        name: String,
        #[command(flatten)]
        quotas: QuotaOptions,
        /// Where the ends of the account's jobs are announced if a request does not say so
        #[arg(long, value_name = "URL")]
        webhook: Option<String>,
        /// The key is also an operator's: view opens the operations page, /ops, operate may also change queues, workers and jobs
        /// of all accounts, admin also keys
        #[arg(long, value_name = "ROLE", value_parser = role)]
        role: Option<Role>,
        /// How long the key works, such as 12h or 90d. Without it, until it is revoked
        #[arg(long, value_name = "TIME", value_parser = lifetime)]
        expires: Option<Duration>,
    },
    /// List all keys with their last use, their state, and the quotas and webhooks of their accounts
    List {
        /// Print one JSON array instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Replace the quotas of a key's account, and how long its jobs are kept. What is not given is removed
    Limit {
        /// The whole key, or its prefix: the 8 characters after `ak_`, as `akhar keys list` shows them
        prefix: String,
        #[command(flatten)]
        quotas: QuotaOptions,
    },
    /// Print the secret that signs the webhooks of a key's account, and make one if there is none. With options, change the
    /// webhook first
    Webhook {
        /// The whole key, or its prefix: the 8 characters after `ak_`, as `akhar keys list` shows them
        prefix: String,
        /// Where the ends of the account's jobs are announced if a request does not say so
        #[arg(long, value_name = "URL")]
        webhook: Option<String>,
        /// Announce only the jobs whose requests say where
        #[arg(long, conflicts_with = "webhook")]
        no_webhook: bool,
        /// Make a new secret. For 24 hours, webhooks are signed with the former one too
        #[arg(long)]
        rotate: bool,
    },
    /// Change when a key expires. One that has expired works again
    Expire {
        /// The key's prefix: the 8 characters after `ak_`, as `akhar keys list` shows them
        prefix: String,
        /// How long the key works from now on, such as 12h or 30d
        #[arg(long = "in", value_name = "TIME", value_parser = lifetime, required_unless_present = "never")]
        lifetime: Option<Duration>,
        /// The key works until it is revoked
        #[arg(long, conflicts_with = "lifetime")]
        never: bool,
    },
    /// Revoke a key, which stops working immediately
    Revoke {
        /// The whole key, or its prefix: the 8 characters after `ak_`, as `akhar keys list` shows them
        prefix: String,
    },
    /// Replace a key with a new one of the same account, role and lifetime, and print the new key to stdout. The old key stops
    /// working immediately, or after --overlap. The account keeps its jobs
    Rotate {
        /// The whole key, or its prefix: the 8 characters after `ak_`, as `akhar keys list` shows them
        prefix: String,
        /// How long the old key still works, such as 24h
        #[arg(long, value_name = "TIME", value_parser = lifetime)]
        overlap: Option<Duration>,
    },
}

/// The quotas of an account. Without an option there is no limit.
#[derive(Debug, clap::Args)]
pub(crate) struct QuotaOptions {
    /// Requests in a minute, in each api process
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    rpm: Option<i32>,
    /// Jobs that may wait in each queue
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    max_queued: Option<i32>,
    /// Minutes of recordings in a day (UTC)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    audio_minutes: Option<i32>,
    /// Megabytes of uploads and results that may be stored; without it, as many as the server allows
    #[arg(long, value_name = "MB", value_parser = clap::value_parser!(i32).range(1..))]
    stored_mb: Option<i32>,
    /// Seconds for which ended jobs are kept if a request does not say so. 0: until the result is delivered
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(i32).range(0..))]
    retain: Option<i32>,
    /// The most seconds for which a request may have its job kept
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(i32).range(0..))]
    max_retain: Option<i32>,
}

impl From<QuotaOptions> for Quotas {
    fn from(options: QuotaOptions) -> Self {
        let QuotaOptions { rpm, max_queued, audio_minutes, stored_mb, retain, max_retain } = options;
        let retention = Retention { retain_s: retain, max_retain_s: max_retain };
        Self {
            requests_per_minute: rpm,
            max_queued,
            audio_minutes_per_day: audio_minutes,
            stored_mb,
            retention,
        }
    }
}

/// Runs one subcommand.
pub(crate) async fn run(config: &Config, command: Command) -> Result<(), Failure> {
    let rules = UrlRules::new(config.webhook_networks());
    connect::with_database(config, async |db| execute(db, &rules, command).await).await
}

/// Parses the name of a role.
fn role(name: &str) -> Result<Role, String> {
    let found = Role::ALL.into_iter().find(|role| role.name() == name);
    found.ok_or_else(|| "expected view, operate or admin".to_owned())
}

async fn execute(db: &Pool, rules: &UrlRules, command: Command) -> Result<(), Failure> {
    let actor = actor::of_command();
    match command {
        Command::Create { name, quotas, webhook, role, expires } => {
            let webhook = webhook.map(|url| webhook_url(rules, &url)).transpose()?;
            let has_webhook = webhook.is_some();
            let account = NewAccount { name, quotas: quotas.into(), webhook, role, lifetime: expires };
            let key = keys::create(db, &actor, account).await?;
            if has_webhook {
                output::note(format_args!(
                    "`akhar keys webhook {}` prints the secret that signs webhooks",
                    key.prefix
                ));
            }
            output::line(key.key)
        }
        Command::Webhook { prefix, webhook, no_webhook, rotate } => {
            let url = match webhook {
                Some(url) => UrlChange::Replace(webhook_url(rules, &url)?),
                None if no_webhook => UrlChange::Remove,
                None => UrlChange::Keep,
            };
            let change = WebhookChange { url, is_rotated: rotate };
            output::line(keys::webhook(db, &actor, &prefix, &change).await?.text())
        }
        Command::Limit { prefix, quotas } => Ok(keys::limit(db, &actor, &prefix, quotas.into()).await?),
        Command::Rotate { prefix, overlap } => {
            output::line(keys::rotate(db, &actor, &prefix, overlap.unwrap_or_default()).await?.key)
        }
        Command::Expire { prefix, lifetime, never: _ } => {
            let key = keys::expire(db, &actor, &prefix, lifetime).await?;
            let when = lifetime
                .map_or_else(|| "never".to_owned(), |time| format!("in {}", output::age(time.as_secs_f64())));
            output::note(format_args!("{} ({}) expires {when}", key.prefix, key.name));
            Ok(())
        }
        Command::Revoke { prefix } => {
            let revoked = keys::revoke(db, &actor, &prefix).await?;
            output::note(format_args!("revoked {} ({})", revoked.prefix, revoked.name));
            Ok(())
        }
        Command::List { json } => {
            let keys = keys::list(db).await?;
            if json { output::json(&keys) } else { table(&keys) }
        }
    }
}

/// A URL that webhooks may be sent to.
fn webhook_url(rules: &UrlRules, url: &str) -> Result<CallerUrl, Failure> {
    rules.parse(url).map_err(|error| Failure::Command(format!("the URL of the webhook {error}")))
}

fn table(keys: &[Key]) -> Result<(), Failure> {
    let rows = keys.iter().map(|key| {
        let last_use = key.last_used_at.map_or_else(|| "never".to_owned(), output::ago);
        [key.prefix.clone(), output::ago(key.created_at), last_use, state(key), key.name.clone()]
    });
    output::table(["PREFIX", "CREATED", "LAST USE", "STATE", "NAME"], rows.collect())
}

/// Whether a key works, and what is special about it.
fn state(key: &Key) -> String {
    let state = match (key.revoked_at, key.expires_at) {
        (Some(at), _) => format!("revoked {}", output::ago(at)),
        (None, Some(at)) if key.state == KeyState::Expired => format!("expired {}", output::ago(at)),
        (None, Some(at)) => format!("works, expires in {}", output::left(at)),
        (None, None) => "works".to_owned(),
    };
    let replaced = key.is_replaced.then(|| "replaced".to_owned());
    let quotas = [
        ("rpm", key.rpm),
        ("max-queued", key.max_queued),
        ("audio-minutes", key.audio_minutes),
        ("stored-mb", key.stored_mb),
        ("retain", key.retain_s),
        ("max-retain", key.max_retain_s),
    ];
    let quotas = quotas.into_iter().filter_map(|(name, n)| Some(format!("{name} {}", n?)));
    let webhook = key.webhook_url.as_ref().map(|url| format!("webhook {url}"));
    let words = iter::once(state)
        .chain(replaced)
        .chain(key.role.map(|role| role.name().to_owned()))
        .chain(quotas)
        .chain(webhook);
    words.collect::<Vec<_>>().join(", ")
}
