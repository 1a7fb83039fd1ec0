//! `akhar keys`: creates, lists, revokes and rotates API keys.

use akhar_accounts::keys::{self, KeyInfo};
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
    },
    /// List all keys: prefix, creation time (UTC), state and name
    List,
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

/// Runs one subcommand.
pub(crate) async fn run(config: &Config, command: Command) -> Result<(), Failure> {
    let opened = CommandDatabase::open(config).await?;
    let done = execute(&opened.database.durable, command).await;
    opened.close().await?;
    done
}

async fn execute(db: &PgPool, command: Command) -> Result<(), Failure> {
    match command {
        Command::Create { name } => output::line(keys::create(db, &name).await?.1.expose()),
        Command::Rotate { prefix } => output::line(keys::rotate(db, &prefix).await?.1.expose()),
        Command::Revoke { prefix } => {
            let key = keys::revoke(db, &prefix).await?;
            eprintln!("revoked {} ({})", key.prefix, key.name);
            Ok(())
        }
        Command::List => keys::list(db).await?.iter().try_for_each(print),
    }
}

fn print(key: &KeyInfo) -> Result<(), Failure> {
    let state = match key.revoked_at {
        Some(at) => format!("revoked {}", at.format("%F %T")),
        None => "works".to_owned(),
    };
    let created_at = key.created_at.format("%F %T");
    output::line(format_args!("{}  {created_at}  {state}  {}", key.prefix, key.name))
}
