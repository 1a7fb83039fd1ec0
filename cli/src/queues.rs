//! `akhar queues`: lists, pauses, drains and resumes the queues.

use akhar_jobs::{
    JobState, Queue,
    store::{self, QueueMode},
};
use akhar_platform::config::Config;
use serde_json::json;
use sqlx::PgPool;

use crate::{actor, connect, failure::Failure, output};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the queues with their modes and the number of jobs in each state
    List {
        /// Print one JSON array instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Start no more jobs of a queue. The api still accepts them, and running ones go on
    Pause {
        /// quick or speech
        #[arg(value_parser = queue)]
        queue: Queue,
    },
    /// Accept no more jobs of a queue. Those that wait are run
    Drain {
        /// quick or speech
        #[arg(value_parser = queue)]
        queue: Queue,
    },
    /// Accept and start jobs of a queue again
    Resume {
        /// quick or speech
        #[arg(value_parser = queue)]
        queue: Queue,
    },
}

/// Parses the name of a queue.
pub(crate) fn queue(name: &str) -> Result<Queue, String> {
    Queue::from_name(name).ok_or_else(|| "expected quick or speech".to_owned())
}

/// Runs one subcommand.
pub(crate) async fn run(config: &Config, command: Command) -> Result<(), Failure> {
    connect::with_database(config, async |db| execute(db, command).await).await
}

async fn execute(db: &PgPool, command: Command) -> Result<(), Failure> {
    let (queue, mode) = match command {
        Command::List { json } => return list(db, json).await,
        Command::Pause { queue } => (queue, QueueMode::Paused),
        Command::Drain { queue } => (queue, QueueMode::Draining),
        Command::Resume { queue } => (queue, QueueMode::Open),
    };
    Ok(store::set_queue_mode(db, &actor::of_command(), queue, mode).await?)
}

async fn list(db: &PgPool, as_json: bool) -> Result<(), Failure> {
    let depths = store::queue_depths(db).await?;
    let mut rows = Vec::new();
    for (queue, control) in store::queue_controls(db).await? {
        let n = |state: JobState| {
            let depth = depths.iter().find(|depth| depth.queue == queue.name() && depth.state == state);
            depth.map_or(0, |depth| depth.n_jobs)
        };
        rows.push((queue, control, JobState::ALL.map(n)));
    }
    if as_json {
        let queues: Vec<_> = rows
            .iter()
            .map(|(queue, control, n_jobs)| {
                let n_jobs =
                    JobState::ALL.iter().zip(n_jobs).map(|(state, n)| (state.name().to_owned(), json!(n)));
                json!({"queue": queue.name(), "mode": control.mode.name(), "changed_at": control.changed_at,
                    "jobs": n_jobs.collect::<serde_json::Map<_, _>>()})
            })
            .collect();
        return output::json(&queues);
    }
    let rows = rows.into_iter().map(|(queue, control, [queued, running, succeeded, failed, cancelled])| {
        let numbers = [queued, running, succeeded, failed, cancelled].map(|n| n.to_string());
        let [queued, running, succeeded, failed, cancelled] = numbers;
        let changed = control.changed_at.map(output::ago).unwrap_or_default();
        let queue = queue.name().to_owned();
        let mode = control.mode.name().to_owned();
        [queue, mode, queued, running, succeeded, failed, cancelled, changed]
    });
    let head = ["QUEUE", "MODE", "QUEUED", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "MODE SINCE"];
    output::table(head, rows.collect())
}
