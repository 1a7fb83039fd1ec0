//! `akhar webhooks`: lists webhooks, and sends those again that were given up.

use akhar_jobs::store::{self, DeliveryState, ListedDelivery};
use akhar_platform::config::Config;
use serde_json::json;
use sqlx::PgPool;
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
        #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(i64).range(1..=100_000))]
        limit: i64,
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

async fn execute(db: &PgPool, command: Command) -> Result<(), Failure> {
    match command {
        Command::List { dead, json, limit } => {
            let state = dead.then_some(DeliveryState::Dead);
            let deliveries = store::list_deliveries(db, state, limit).await?;
            if json { deliveries.iter().try_for_each(print_json) } else { table(&deliveries) }
        }
        Command::Redeliver { dead: true, .. } => {
            output::line(store::redeliver_dead(db, &actor::of_command()).await?)
        }
        Command::Redeliver { ids, .. } => redeliver(db, ids).await,
    }
}

async fn redeliver(db: &PgPool, ids: Vec<Uuid>) -> Result<(), Failure> {
    let redelivered = store::redeliver(db, &actor::of_command(), &ids).await?;
    output::line(redelivered.len())?;
    match ids.iter().find(|id| !redelivered.contains(id)) {
        None => Ok(()),
        Some(unknown) => Err(Failure::Command(format!(
            "no webhook has the id {unknown}; `akhar webhooks list` shows all webhooks"
        ))),
    }
}

fn table(deliveries: &[ListedDelivery]) -> Result<(), Failure> {
    let rows = deliveries.iter().map(|delivery| {
        [
            delivery.id.to_string(),
            output::ago(delivery.created_at),
            delivery.state.name().to_owned(),
            delivery.attempt.to_string(),
            delivery.url.clone(),
            delivery.last_error.clone().unwrap_or_default(),
        ]
    });
    output::table(["ID", "ENDED", "STATE", "ATTEMPTS", "URL", "LAST ERROR"], rows.collect())
}

fn print_json(delivery: &ListedDelivery) -> Result<(), Failure> {
    let due_at = (delivery.state == DeliveryState::Pending).then_some(delivery.due_at);
    output::line(json!({
        "id": delivery.id,
        "group": delivery.group_name,
        "account_id": delivery.account_id,
        "url": delivery.url,
        "state": delivery.state.name(),
        "attempts": delivery.attempt,
        "created_at": delivery.created_at,
        "due_at": due_at,
        "ended_at": delivery.ended_at,
        "last_error": delivery.last_error,
    }))
}
