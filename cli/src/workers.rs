//! `akhar workers`: lists workers and the models that they serve, drains and resumes them.

use akhar_operators::workers::{self, ServedModel, Worker};
use akhar_platform::{config::Config, database::Pool};

use crate::{actor, connect, failure::Failure, output};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// List the workers with their heartbeats and the number of jobs that each runs
    List {
        /// Print one JSON array instead of a table
        #[arg(long)]
        json: bool,
    },
    /// List the models that the workers serve, with their versions, and which of them differ between workers
    Models {
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

async fn execute(db: &Pool, command: Command) -> Result<(), Failure> {
    match command {
        Command::List { json } => {
            let workers = workers::list(db).await?;
            if json { output::json(&workers) } else { output::print(columns(&workers)) }
        }
        Command::Models { json } => {
            let models = workers::models(db).await?;
            if json { output::json(&models) } else { show(&models) }
        }
        Command::Drain { name } => drain(db, &name, true).await,
        Command::Resume { name } => drain(db, &name, false).await,
    }
}

async fn drain(db: &Pool, name: &str, drain: bool) -> Result<(), Failure> {
    if workers::drain(db, &actor::of_command(), name, drain).await? {
        return Ok(());
    }
    Err(Failure::Command(format!("there is no worker {name}: `akhar workers list` shows all")))
}

fn show(models: &[ServedModel]) -> Result<(), Failure> {
    let rows = models.iter().map(|model| {
        let ServedModel { operation, language, id, version, workers, since, is_mixed } = model.clone();
        let language = language.unwrap_or_else(|| "-".to_owned());
        let mixed = if is_mixed { "yes" } else { "-" }.to_owned();
        [operation, language, id, version, output::ago(since), mixed, workers.join(", ")]
    });
    let head = ["OPERATION", "LANGUAGE", "MODEL", "VERSION", "LOADED", "MIXED", "WORKERS"];
    output::table(head, rows.collect())
}

/// The table of the workers.
pub(crate) fn columns(workers: &[Worker]) -> String {
    let rows = workers.iter().map(|worker| {
        let name = worker.name.clone();
        let state = worker.state.name().to_owned();
        let jobs = worker.n_jobs.to_string();
        [name, state, jobs, output::ago(worker.started_at), output::ago(worker.seen_at)]
    });
    output::columns(["NAME", "STATE", "JOBS", "STARTED", "LAST HEARTBEAT"], rows.collect())
}
