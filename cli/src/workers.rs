//! `akhar workers`: lists, drains and resumes workers.

use akhar_client::AdminWorkerBody;
use akhar_platform::config::Config;

use crate::{
    admin::{Admin, Arguments},
    failure::Failure,
    output,
};

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
pub(crate) async fn run(config: &Config, arguments: Arguments<Command>) -> Result<(), Failure> {
    let Arguments { command, place } = arguments;
    place.with(config, async |admin| execute(admin, command).await).await
}

async fn execute(admin: &Admin, command: Command) -> Result<(), Failure> {
    match command {
        Command::List { json } => {
            let workers = admin.workers().await?;
            if json { output::json(&workers) } else { output::print(columns(&workers)) }
        }
        Command::Drain { name } => drain(admin, &name, true).await,
        Command::Resume { name } => drain(admin, &name, false).await,
    }
}

async fn drain(admin: &Admin, name: &str, drain: bool) -> Result<(), Failure> {
    if admin.drain_worker(name, drain).await? {
        return Ok(());
    }
    Err(Failure::Command(format!("there is no worker {name}: `akhar workers list` shows all")))
}

/// The table of the workers.
pub(crate) fn columns(workers: &[AdminWorkerBody]) -> String {
    let rows = workers.iter().map(|worker| {
        let name = worker.name.clone();
        let state = worker.state.clone();
        let jobs = worker.n_jobs.to_string();
        [name, state, jobs, output::ago(worker.started_at), output::ago(worker.seen_at)]
    });
    output::columns(["NAME", "STATE", "JOBS", "STARTED", "LAST HEARTBEAT"], rows.collect())
}
