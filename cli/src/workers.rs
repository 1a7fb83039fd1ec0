//! `akhar workers`: lists, drains and resumes workers.

use akhar_jobs::store::{self, WorkerRow};
use akhar_platform::config::Config;
use sqlx::PgPool;

use crate::{actor, connect, failure::Failure, output};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the workers with their heartbeats and the number of jobs that each runs
    List {
        /// Print one JSON array instead of a table
        #[arg(long)]
        json: bool,
    },
    /// Make a worker claim no more jobs. It finishes those that it has, and then waits to be stopped or resumed
    Drain {
        /// The worker's name, as `akhar workers list` shows it
        name: String,
    },
    /// Make a drained worker claim jobs again
    Resume {
        /// The worker's name, as `akhar workers list` shows it
        name: String,
    },
}

/// Runs one subcommand.
pub(crate) async fn run(config: &Config, command: Command) -> Result<(), Failure> {
    connect::with_database(config, async |db| execute(db, command).await).await
}

async fn execute(db: &PgPool, command: Command) -> Result<(), Failure> {
    match command {
        Command::List { json } => {
            let workers = store::list_workers(db).await?;
            if json { output::json(&workers) } else { table(&workers) }
        }
        Command::Drain { name } => drain(db, &name, true).await,
        Command::Resume { name } => drain(db, &name, false).await,
    }
}

async fn drain(db: &PgPool, name: &str, drain: bool) -> Result<(), Failure> {
    if store::drain_worker(db, &actor::of_command(), name, drain).await? {
        return Ok(());
    }
    Err(Failure::Command(format!("there is no worker {name}: `akhar workers list` shows all")))
}

fn table(workers: &[WorkerRow]) -> Result<(), Failure> {
    let rows = workers.iter().map(|worker| {
        let name = worker.name.clone();
        let state = worker.state().name().to_owned();
        let jobs = worker.n_jobs.to_string();
        [name, state, jobs, output::ago(worker.started_at), output::ago(worker.seen_at)]
    });
    output::table(["NAME", "STATE", "JOBS", "STARTED", "LAST HEARTBEAT"], rows.collect())
}
