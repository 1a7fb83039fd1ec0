//! `akhar webhooks`: lists webhooks, and sends those again that were given up.

use akhar_operators::{
    accounts,
    webhooks::{self, Webhook, WebhookFilter},
};
use akhar_platform::{config::Config, database::Pool};
use akhar_webhooks::store::DeliveryState;
use serde_json::json;
use uuid::Uuid;

use crate::{actor, connect, failure::Failure, output};

/// The most webhooks that are read at a time.
const PAGE: usize = 1000;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List webhooks with their attempts, next tries and last errors, the newest first. The id is that of the job, or that of the end of a group.
    /// Webhooks are deleted with their jobs or groups
    List {
        /// Only those that were given up
        #[arg(long, conflicts_with = "state")]
        dead: bool,
        /// In this state: pending, delivered or dead
        #[arg(long, value_parser = state)]
        state: Option<DeliveryState>,
        /// Of the account with this name, or of this key: the 8 characters after `ak_`, as `akhar keys list` shows them
        #[arg(long, visible_alias = "key", value_name = "NAME|PREFIX")]
        account: Option<String>,
        /// Whose URL, without its query, contains this text, in large or small letters
        #[arg(long, value_name = "TEXT")]
        url: Option<String>,
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
        Command::List { dead, state, account, url, json, limit } => {
            let state = state.or(dead.then_some(DeliveryState::Dead));
            let account = match account {
                Some(account) => Some(accounts::find(db, &account).await?),
                None => None,
            };
            let filter = WebhookFilter { state, account, url, before: None };
            let webhooks = list(db, filter, usize::try_from(limit).unwrap_or(usize::MAX)).await?;
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

/// At most `limit` webhooks, read page by page.
async fn list(db: &Pool, mut filter: WebhookFilter, limit: usize) -> Result<Vec<Webhook>, Failure> {
    let mut webhooks = Vec::new();
    loop {
        let n_left = u16::try_from((limit - webhooks.len()).min(PAGE)).unwrap_or(u16::MAX);
        let page = webhooks::page(db, &filter, n_left).await?;
        webhooks.extend(page.webhooks);
        filter.before = page.next;
        if filter.before.is_none() || webhooks.len() >= limit {
            return Ok(webhooks);
        }
    }
}

fn state(name: &str) -> Result<DeliveryState, String> {
    let found = DeliveryState::ALL.into_iter().find(|state| state.name() == name);
    found.ok_or_else(|| "expected pending, delivered or dead".to_owned())
}

fn table(webhooks: &[Webhook]) -> Result<(), Failure> {
    let rows = webhooks.iter().map(|webhook| {
        [
            webhook.id.to_string(),
            output::ago(webhook.created_at),
            webhook.account.clone().unwrap_or_default(),
            webhook.state.name().to_owned(),
            webhook.attempts.to_string(),
            webhook.due_at.map(|at| format!("in {}", output::left(at))).unwrap_or_default(),
            webhook.url.clone(),
            webhook.last_error.clone().unwrap_or_default(),
        ]
    });
    let heads = ["ID", "ENDED", "ACCOUNT", "STATE", "ATTEMPTS", "NEXT TRY", "URL", "LAST ERROR"];
    output::table(heads, rows.collect())
}
