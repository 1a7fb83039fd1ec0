//! `akhar accounts`: erases accounts.

use std::io::{self, IsTerminal as _};

use akhar_operators::{accounts, erasure};
use akhar_platform::{config::Config, database::Pool};

use crate::{actor, connect, failure::Failure, output, uploads};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Erase an account with its keys, jobs, uploads and all else that is kept of it. Only the audit trail keeps the fact. This cannot
    /// be undone. On a terminal, the command asks first
    Erase {
        /// The account's name or id, or the prefix of one of its keys
        account: String,
        /// Change nothing, and print how many rows of each table would go
        #[arg(long)]
        dry_run: bool,
        /// Do not ask. Needed where there is no terminal
        #[arg(long)]
        yes: bool,
    },
}

/// Runs one subcommand.
pub(crate) async fn run(config: &Config, command: Command) -> Result<(), Failure> {
    let Command::Erase { account, dry_run, yes } = command;
    connect::with_database(config, async |db| erase(config, db, &account, (dry_run, yes)).await).await
}

async fn erase(
    config: &Config,
    db: &Pool,
    entered: &str,
    (dry_run, yes): (bool, bool),
) -> Result<(), Failure> {
    let account = accounts::find(db, entered).await?;
    if dry_run || !yes {
        let rows = erasure::count(db, account).await?;
        let rows = rows.into_iter().map(|(table, n)| [n.to_string(), table.to_owned()]);
        output::table(["ROWS", "TABLE"], rows.collect())?;
    }
    if dry_run {
        return output::line(format_args!("would erase the account {account}"));
    }
    if !yes && io::stdin().is_terminal() {
        output::ask(format_args!("erase the account {account}?"))?;
    } else if !yes {
        let hint = "add --yes, or look first with --dry-run";
        return Err(Failure::Command(format!("this would erase the account {account}: {hint}")));
    }
    let uploads = uploads::open(config).await?;
    erasure::erase(db, &uploads, &actor::of_command(), account).await?;
    output::line(format_args!("erased the account {account}"))
}
