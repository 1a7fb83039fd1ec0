//! `akhar worker`: runs one worker process on the configured database.

use std::time::Duration;

use akhar_platform::{config::Config, reload::LiveConfig, shutdown::Shutdown, supervisor};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use crate::{connect, failure::Failure, output, uploads};

/// The line that is printed to stdout when the models are loaded and the worker starts claiming jobs.
pub(crate) const READY: &str = "ready";

/// The line on stdin that tells a worker with a parent to finish its jobs and exit.
pub(crate) const FINISH: &str = "finish";

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Finish when standard input says so, and return all jobs to their queues when it closes
    #[arg(long, hide = true)]
    pub(crate) with_parent: bool,
    /// Serve no metrics, whatever the settings say
    #[arg(long, hide = true)]
    pub(crate) without_metrics: bool,
}

/// Runs jobs until a signal stops the process.
pub(crate) async fn run(mut config: Config, arguments: &Arguments) -> Result<(), Failure> {
    let live =
        LiveConfig::follow_signals(config.clone()).map_err(Failure::io("cannot install a signal handler"))?;
    if arguments.without_metrics {
        config.metrics_listen = None;
    }
    let shutdown = Shutdown::on_signals(Duration::ZERO, config.shutdown_limit())
        .map_err(Failure::io("cannot install signal handlers"))?;
    if arguments.with_parent {
        let shutdown = shutdown.clone();
        tokio::spawn(async move { follow_parent(&shutdown).await });
    }
    let database = connect::migrated("akhar-worker", &config).await?;
    let uploads = uploads::open(&config).await?;
    let stopping = shutdown.clone();
    let is_supervised = !arguments.with_parent;
    let ready = || {
        if is_supervised {
            supervisor::ready(&stopping);
        }
        if let Err(error) = output::line(READY) {
            tracing::debug!(%error, "nobody reads standard output");
        }
    };
    Ok(akhar_worker::run(&config, live, database, uploads, shutdown, ready).await?)
}

/// Follows the parent, which writes [`FINISH`] when the jobs should be finished. It closes the pipe when there is no
/// more time for that, and so does its death.
async fn follow_parent(shutdown: &Shutdown) {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        if line == FINISH {
            shutdown.stop();
        }
    }
    shutdown.give_up().await;
}
