//! `akhar audit`: lists what operators changed.

use akhar_operators::audit::{self, Action, AuditFilter, AuditRow};
use akhar_platform::config::Config;

use crate::{connect, failure::Failure, output};

/// Which changes are listed.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Only this action, such as queue.pause
    #[arg(long, value_parser = action)]
    action: Option<Action>,
    /// Only what this one did: the name or prefix of a key, or user@machine of a command
    #[arg(long, value_name = "NAME|PREFIX")]
    actor: Option<String>,
    /// How many at most
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    limit: u32,
    /// Print one JSON array instead of a table
    #[arg(long)]
    json: bool,
}

fn action(name: &str) -> Result<Action, String> {
    let names = || Action::ALL.iter().map(|action| action.name()).collect::<Vec<_>>().join(", ");
    Action::from_name(name).ok_or_else(|| format!("expected one of {}", names()))
}

/// Lists the changes, the newest first.
pub(crate) async fn run(config: &Config, arguments: Arguments) -> Result<(), Failure> {
    let Arguments { action, actor, limit, json } = arguments;
    let filter = AuditFilter { action, actor, before: None };
    let rows = connect::with_database(config, async |db| Ok(audit::list(db, &filter, limit.into()).await?));
    let rows = rows.await?;
    if json { output::json(&rows) } else { table(&rows) }
}

fn table(rows: &[AuditRow]) -> Result<(), Failure> {
    let rows = rows.iter().map(|row| {
        let actor = match &row.key_prefix {
            Some(prefix) => format!("{} ({prefix})", row.actor),
            None => row.actor.clone(),
        };
        [
            output::time(row.at),
            actor,
            row.action.clone(),
            row.n_changed.to_string(),
            row.origin().to_owned(),
            row.target.clone(),
        ]
    });
    output::table(["TIME", "WHO", "ACTION", "CHANGED", "FROM", "ON WHAT"], rows.collect())
}
