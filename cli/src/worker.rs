//! `akhar worker`: one worker process on the configured database.

use akhar_platform::{config::Config, shutdown::Shutdown};
use tokio::io::AsyncReadExt as _;

use crate::{connect, failure::Failure};

/// The line on stdout that says the models are warm and jobs are taken.
pub(crate) const READY: &str = "ready";

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Stop when standard input closes: a parent that dies takes its worker along
    #[arg(long, hide = true)]
    pub(crate) with_parent: bool,
}

/// Works until told to stop.
pub(crate) async fn run(config: Config, arguments: &Arguments) -> Result<(), Failure> {
    let shutdown = Shutdown::on_signals(config.shutdown_limit()).map_err(Failure::io("signals"))?;
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
