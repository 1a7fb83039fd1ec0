//! `akhar keys`: make, list, revoke and rotate API keys.

use akhar_accounts::keys::{self, KeyInfo};
use akhar_platform::config::Config;

use crate::{connect::Reached, failure::Failure};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make an account with a first key; the key is printed once, alone on stdout
    Create {
        /// Whom or what it is for
        #[arg(long)]
        name: String,
    },
    /// List keys, without their secrets
    List,
    /// Stop a key from working, at once
    Revoke {
        /// The 8 characters after `ak_`, as `keys list` shows them
        prefix: String,
    },
    /// Replace a key by a new one of the same account, which keeps its jobs; the new one is printed once, alone on
    /// stdout; the old one stops working at once
    Rotate {
        /// The 8 characters after `ak_`, as `keys list` shows them
        prefix: String,
    },
}

/// Runs one of them.
pub(crate) async fn run(config: &Config, command: Command) -> Result<(), Failure> {
    let reached = Reached::any(config).await?;
    let done = act(&reached, command).await;
    reached.leave().await?;
    done
}

async fn act(reached: &Reached, command: Command) -> Result<(), Failure> {
    let db = &reached.database.durable;
    match command {
        Command::Create { name } => println!("{}", keys::create(db, &name).await?.1.expose()),
        Command::Rotate { prefix } => println!("{}", keys::rotate(db, &prefix).await?.1.expose()),
        Command::Revoke { prefix } => {
            let key = keys::revoke(db, &prefix).await?;
            eprintln!("revoked {} ({})", key.prefix, key.name);
        }
        Command::List => keys::list(db).await?.iter().for_each(print),
    }
    Ok(())
}

fn print(key: &KeyInfo) {
    let state = match key.revoked_at {
        Some(at) => format!("revoked {}", at.format("%F %T")),
        None => "works".to_owned(),
    };
    println!("{}  {}  {state}  {}", key.prefix, key.created_at.format("%F %T"), key.name);
}
