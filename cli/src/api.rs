//! `akhar api`: runs the HTTP server alone, on the configured database. Also prints the OpenAPI document.

use akhar_platform::{config::Config, database::Database, shutdown::Shutdown};
use tokio::net::TcpListener;

use crate::{connect, failure::Failure, output};

/// Serves until a signal stops the process.
pub(crate) async fn run(config: Config) -> Result<(), Failure> {
    let shutdown = Shutdown::on_signals(config.shutdown_limit())
        .map_err(Failure::io("cannot install signal handlers"))?;
    let database = connect::configured("akhar-api", &config).await?;
    serve(listen(&config).await?, &config, database, shutdown).await
}

/// Opens a listening socket on the configured address.
pub(crate) async fn listen(config: &Config) -> Result<TcpListener, Failure> {
    let address = config.listen;
    TcpListener::bind(address).await.map_err(|source| Failure::Listen { address, source })
}

/// Prints the address to stdout, then serves until `shutdown`.
pub(crate) async fn serve(
    listener: TcpListener,
    config: &Config,
    database: Database,
    shutdown: Shutdown,
) -> Result<(), Failure> {
    let address = listener.local_addr().map_err(Failure::io("cannot read the listening address"))?;
    output::line(format_args!("listening on http://{address}")).or_else(Failure::unless_output_closed)?;
    Ok(akhar_api::serve(listener, config, database, shutdown).await?)
}
