//! `akhar worker`: runs one worker process on the configured database.

use akhar_platform::{config::Config, shutdown::Shutdown};
use tokio::io::AsyncReadExt as _;

use crate::{connect, failure::Failure};

/// The line that is printed to stdout when the models are loaded and the worker starts claiming jobs.
pub(crate) const READY: &str = "ready";

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Stop when standard input closes, so that the worker stops when its parent dies
    #[arg(long, hide = true)]
    pub(crate) with_parent: bool,
}

/// Runs jobs until a signal stops the process.
pub(crate) async fn run(config: Config, arguments: &Arguments) -> Result<(), Failure> {
    let shutdown = Shutdown::on_signals(config.shutdown_limit())
        .map_err(Failure::io("cannot install signal handlers"))?;
    if arguments.with_parent {
        let shutdown = shutdown.clone();
        tokio::spawn(async move {
            let _ = tokio::io::stdin().read_to_end(&mut Vec::new()).await;
            shutdown.stop();
        });
    }
    let database = connect::configured("akhar-worker", &config).await?;
    Ok(akhar_worker::run(&config, database, shutdown, || println!("{READY}")).await?)
}
