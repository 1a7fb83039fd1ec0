//! `akhar queues`: lists, pauses, drains and resumes the queues.

use akhar_jobs::{
    Queue,
    store::{QueueMode, is_quiet},
};
use akhar_operators::{
    queues::{self, QueueJobs},
    search::Term,
};
use akhar_platform::{config::Config, database::Pool};

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
        #[arg(value_parser = <Queue as Term>::parse)]
        queue: Queue,
    },
    /// Accept no more jobs of a queue. Those that wait are run
    Drain {
        /// quick or speech
        #[arg(value_parser = <Queue as Term>::parse)]
        queue: Queue,
    },
    /// Accept and start jobs of a queue again
    Resume {
        /// quick or speech
        #[arg(value_parser = <Queue as Term>::parse)]
        queue: Queue,
    },
}

/// Runs one subcommand.
pub(crate) async fn run(config: &Config, command: Command) -> Result<(), Failure> {
    connect::with_database(config, async |db| execute(db, command).await).await
}

async fn execute(db: &Pool, command: Command) -> Result<(), Failure> {
    let (queue, mode) = match command {
        Command::List { json } => return list(db, json).await,
        Command::Pause { queue } => (queue, QueueMode::Paused),
        Command::Drain { queue } => (queue, QueueMode::Draining),
        Command::Resume { queue } => (queue, QueueMode::Open),
    };
    Ok(queues::set_mode(db, &actor::of_command(), queue, mode).await?)
}

async fn list(db: &Pool, as_json: bool) -> Result<(), Failure> {
    let all = queues::list(db).await?;
    if is_quiet(db).await? {
        output::note("the database was restored and is quiet: no job starts until `akhar database go`");
    }
    if as_json {
        return output::json(&all);
    }
    let rows = all.into_iter().map(|queue| {
        let QueueJobs { queued, running, succeeded, failed, cancelled } = queue.jobs;
        let numbers = [queued, running, succeeded, failed, cancelled].map(|n| n.to_string());
        let [queued, running, succeeded, failed, cancelled] = numbers;
        let changed = queue.changed_at.map(output::ago).unwrap_or_default();
        [queue.queue, queue.mode.name().to_owned(), queued, running, succeeded, failed, cancelled, changed]
    });
    let head = ["QUEUE", "MODE", "QUEUED", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "MODE SINCE"];
    output::table(head, rows.collect())
}
