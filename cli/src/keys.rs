//! `akhar keys`: creates, lists, limits, revokes and rotates API keys.

use std::iter;

use akhar_accounts::{
    Quotas,
    keys::{self, ListedKey},
};
use akhar_platform::config::Config;
use sqlx::PgPool;

use crate::{connect::CommandDatabase, failure::Failure, output};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Create an account and its first key, and print the key to stdout. It cannot be shown again
    Create {
        /// A name for the account and the key, such as who uses it
        #[arg(long)]
        name: String,
        #[command(flatten)]
        quotas: QuotaOptions,
    },
    /// List all keys: prefix, creation time (UTC), state, quotas (if any) and name
    List,
    /// Replace the quotas of a key's account. A quota that is not given is removed
    Limit {
        /// The key's prefix: the 8 characters after `ak_`, as `akhar keys list` shows them
        prefix: String,
        #[command(flatten)]
        quotas: QuotaOptions,
    },
    /// Revoke a key, which stops working immediately
    Revoke {
        /// The key's prefix: the 8 characters after `ak_`, as `akhar keys list` shows them
        prefix: String,
    },
    /// Replace a key with a new one of the same account, and print the new key to stdout. The old key stops working
    /// immediately. The account keeps its jobs
    Rotate {
        /// The key's prefix: the 8 characters after `ak_`, as `akhar keys list` shows them
        prefix: String,
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
}

impl From<QuotaOptions> for Quotas {
    fn from(options: QuotaOptions) -> Self {
        let QuotaOptions { rpm, max_queued, audio_minutes } = options;
        Self { requests_per_minute: rpm, max_queued, audio_minutes_per_day: audio_minutes }
    }
}

/// Runs one subcommand.
pub(crate) async fn run(config: &Config, command: Command) -> Result<(), Failure> {
    let opened = CommandDatabase::open(config).await?;
    let done = execute(&opened.database.durable, command).await;
    opened.close().await?;
    done
}

async fn execute(db: &PgPool, command: Command) -> Result<(), Failure> {
    match command {
        Command::Create { name, quotas } => {
            output::line(keys::create(db, &name, quotas.into()).await?.1.expose())
        }
        Command::Limit { prefix, quotas } => Ok(keys::limit(db, &prefix, quotas.into()).await?),
        Command::Rotate { prefix } => output::line(keys::rotate(db, &prefix).await?.1.expose()),
        Command::Revoke { prefix } => {
            let key = keys::revoke(db, &prefix).await?;
            eprintln!("revoked {} ({})", key.prefix, key.name);
            Ok(())
        }
        Command::List => keys::list(db).await?.iter().try_for_each(print),
    }
}

fn print(ListedKey { key, quotas }: &ListedKey) -> Result<(), Failure> {
    let state = match key.revoked_at {
        Some(at) => format!("revoked {}", at.format("%F %T")),
        None => "works".to_owned(),
    };
    let created_at = key.created_at.format("%F %T");
    let Quotas { requests_per_minute, max_queued, audio_minutes_per_day } = *quotas;
    let quotas =
        [("rpm", requests_per_minute), ("max-queued", max_queued), ("audio-minutes", audio_minutes_per_day)];
    let quotas = quotas.into_iter().filter_map(|(name, n)| Some(format!("{name} {}", n?)));
    let state = iter::once(state).chain(quotas).collect::<Vec<_>>().join(", ");
    output::line(format_args!("{}  {created_at}  {state}  {}", key.prefix, key.name))
}
