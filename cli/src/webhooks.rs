//! `akhar webhooks`: lists webhooks, and sends those again that were given up.

use akhar_operators::webhooks::{self, Webhook};
use akhar_platform::{config::Config, database::Pool};
use akhar_webhooks::store::DeliveryState;
use serde_json::json;
use uuid::Uuid;

use crate::{actor, connect, failure::Failure, output};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List webhooks with their attempts and last errors, the newest first. The id is that of the job, or that of the end of a group.
    /// Webhooks are deleted with their jobs or groups
    List {
        /// Only those that were given up
        #[arg(long)]
        dead: bool,
        /// One JSON object for each, on a line of its own
        #[arg(long)]
        json: bool,
        /// The most webhooks that are listed
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
        limit: u32,
    },
    /// Send webhooks again at once, with all attempts before them, and print their number
    Redeliver {
        /// The ids of the webhooks, which are those of their jobs if they are not about groups
        #[arg(value_name = "ID", required_unless_present = "dead", num_args = 1..=1000)]
        ids: Vec<Uuid>,
        /// All webhooks that were given up
        #[arg(long, conflicts_with = "ids")]
        dead: bool,
    },
}

/// Runs one subcommand.
pub(crate) async fn run(config: &Config, command: Command) -> Result<(), Failure> {
    connect::with_database(config, async |db| execute(db, command).await).await
}

async fn execute(db: &Pool, command: Command) -> Result<(), Failure> {
    match command {
        Command::List { dead, json, limit } => {
            let state = dead.then_some(DeliveryState::Dead);
            let webhooks = webhooks::page(db, state, None, limit.into()).await?;
            if json {
                webhooks.iter().try_for_each(|webhook| output::line(json!(webhook)))
            } else {
                table(&webhooks)
            }
        }
        Command::Redeliver { ids, dead } => {
            let actor = actor::of_command();
            let redelivered = if dead {
                webhooks::redeliver_dead(db, &actor).await?
            } else {
                webhooks::redeliver(db, &actor, &ids).await?
            };
            output::line(redelivered.n_redelivered)?;
            match redelivered.unknown.first() {
                None => Ok(()),
                Some(unknown) => Err(Failure::Command(format!(
                    "no webhook has the id {unknown}; `akhar webhooks list` shows all webhooks"
                ))),
            }
        }
    }
}

fn table(webhooks: &[Webhook]) -> Result<(), Failure> {
    let rows = webhooks.iter().map(|webhook| {
        [
            webhook.id.to_string(),
            output::ago(webhook.created_at),
            webhook.state.name().to_owned(),
            webhook.attempts.to_string(),
            webhook.url.clone(),
            webhook.last_error.clone().unwrap_or_default(),
        ]
    });
    output::table(["ID", "ENDED", "STATE", "ATTEMPTS", "URL", "LAST ERROR"], rows.collect())
}
