//! `akhar api`: runs the HTTP server alone, on the configured database. Also prints the OpenAPI document.

use std::net::SocketAddr;

use akhar_api::DemoKey;
use akhar_platform::{config::Config, reload::LiveConfig, shutdown::Shutdown, supervisor};
use tokio::net::{TcpListener, TcpSocket};

use crate::{connect, failure::Failure, output, uploads};

/// Connections that the system accepts before the process does: as many as may come at once. The system lowers it to
/// its own limit.
const BACKLOG: u32 = 4096;
/// Bytes of an answer that the system keeps for a client that does not read it.
const SEND_BUFFER: u32 = 128 * 1024;

/// Serves until a signal stops the process.
pub(crate) async fn run(config: Config) -> Result<(), Failure> {
    let shutdown = Shutdown::on_signals(config.drain_notice(), config.shutdown_limit())
        .map_err(Failure::io("cannot install signal handlers"))?;
    let live =
        LiveConfig::follow_signals(config.clone()).map_err(Failure::io("cannot install a signal handler"))?;
    let database = connect::migrated("akhar-api", &config).await?;
    let uploads = uploads::open(&config).await?;
    let listener = listen(&config)?;
    announce(address(&listener)?)?;
    supervisor::ready(&shutdown);
    let served = akhar_api::serve(listener, live, database, uploads.clone(), shutdown, DemoKey::none()).await;
    uploads::close(uploads).await;
    Ok(served?)
}

/// Opens a listening socket on the configured address.
pub(crate) fn listen(config: &Config) -> Result<TcpListener, Failure> {
    let address = config.listen;
    let bind = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?; // a server that is started again need not wait for connections of the last one
        socket.set_send_buffer_size(SEND_BUFFER)?; // accepted sockets inherit it
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    bind().map_err(|source| Failure::Listen { address, source })
}

/// The address that a socket listens on.
pub(crate) fn address(listener: &TcpListener) -> Result<SocketAddr, Failure> {
    listener.local_addr().map_err(Failure::io("cannot read the listening address"))
}

/// Prints the address to stdout.
pub(crate) fn announce(address: SocketAddr) -> Result<(), Failure> {
    output::line(format_args!("listening on http://{address}")).or_else(Failure::unless_output_closed)
}
