//! `akhar queues`: lists, pauses, drains and resumes the queues.

use akhar_jobs::{
    Queue,
    store::{QueueMode, is_quiet},
};
use akhar_operators::{
    queues::{self, ModeChange, QueueJobs},
    search::Term,
    until::{Until, Why},
};
use akhar_platform::{config::Config, database::Pool};
use chrono::Local;

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
        /// quick, speech or live
        #[arg(value_parser = <Queue as Term>::parse)]
        queue: Queue,
        #[command(flatten)]
        limits: Limits,
    },
    /// Accept no more jobs of a queue. Those that wait are run
    Drain {
        /// quick, speech or live
        #[arg(value_parser = <Queue as Term>::parse)]
        queue: Queue,
        #[command(flatten)]
        limits: Limits,
    },
    /// Accept and start jobs of a queue again
    Resume {
        /// quick, speech or live
        #[arg(value_parser = <Queue as Term>::parse)]
        queue: Queue,
    },
}

/// Why and until when a queue is stopped.
#[derive(Debug, clap::Args)]
pub(crate) struct Limits {
    /// Why, for other operators and the audit trail
    #[arg(long, value_name = "TEXT", value_parser = Why::parse)]
    why: Option<Why>,
    /// When the queue is open again by itself: a time of day such as 06:00 in the time zone of this machine, a time such as
    /// 2026-11-29T06:00:00Z, or how long from now, such as 2h. Without it, when it is resumed
    #[arg(long, value_name = "TIME", value_parser = until)]
    until: Option<Until>,
}

impl Limits {
    fn with(self, mode: QueueMode) -> ModeChange {
        ModeChange { mode, why: self.why, until: self.until }
    }
}

fn until(text: &str) -> Result<Until, String> {
    Until::parse(text, &Local::now())
}

/// Runs one subcommand.
pub(crate) async fn run(config: &Config, command: Command) -> Result<(), Failure> {
    connect::with_database(config, async |db| execute(db, command).await).await
}

async fn execute(db: &Pool, command: Command) -> Result<(), Failure> {
    let (queue, change) = match command {
        Command::List { json } => return list(db, json).await,
        Command::Pause { queue, limits } => (queue, limits.with(QueueMode::Paused)),
        Command::Drain { queue, limits } => (queue, limits.with(QueueMode::Draining)),
        Command::Resume { queue } => (queue, ModeChange::to(QueueMode::Open)),
    };
    Ok(queues::set_mode(db, &actor::of_command(), queue, &change).await?)
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
        let until = queue.until.map(output::time).unwrap_or_default();
        let (mode, why) = (queue.mode.name().to_owned(), queue.why.unwrap_or_default());
        [queue.queue, mode, queued, running, succeeded, failed, cancelled, changed, until, why]
    });
    let head = [
        "QUEUE",
        "MODE",
        "QUEUED",
        "RUNNING",
        "SUCCEEDED",
        "FAILED",
        "CANCELLED",
        "MODE SINCE",
        "UNTIL (UTC)",
        "WHY",
    ];
    output::table(head, rows.collect())
}
