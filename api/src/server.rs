//! Accepts and serves connections until shutdown, and then finishes the requests in progress.

use std::{io, time::Duration};

use akhar_platform::{config::Config, database::Database, shutdown::Shutdown};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{app::App, listen::listen, router::router};

/// How long a client may take to send a request's headers, and how long a connection may be idle between requests.
const HEADER_LIMIT: Duration = Duration::from_secs(60);
/// The pause after a failed accept, for example if there are no free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Why the server did not shut down cleanly.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The time limit of the shutdown passed while requests were in progress. Holds the number of their connections.
    #[error(
        "stopped while requests on {0} connections were unfinished: the time limit AKHAR_SHUTDOWN_S passed, or a second \
         signal was received"
    )]
    Unfinished(usize),
}

/// Serves requests until `shutdown.soft`, then finishes the requests in progress, and aborts the rest at
/// `shutdown.hard`.
///
/// After `shutdown.soft`, new requests are answered with 503, on existing and on new connections.
pub async fn serve(
    listener: TcpListener,
    config: &Config,
    database: Database,
    shutdown: Shutdown,
) -> Result<(), ServeError> {
    let app = App::new(config, database, &shutdown);
    serve_app(listener, app, shutdown).await
}

async fn serve_app(listener: TcpListener, app: App, shutdown: Shutdown) -> Result<(), ServeError> {
    let listening = tokio::spawn(listen(app.clone()));
    let tasks = app.tasks.clone();
    let service = TowerToHyperService::new(router(app));
    let connections = TaskTracker::new();
    // Connections get their own hard token, so that they can be counted before they are aborted.
    let connection_shutdown = Shutdown { hard: CancellationToken::new(), ..shutdown.clone() };
    let accepting = async {
        loop {
            let stream = accept(&listener).await;
            let connection = serve_connection(stream, service.clone(), connection_shutdown.clone());
            if shutdown.soft.is_cancelled() {
                tokio::spawn(connection); // its requests are answered with 503, and the shutdown does not wait for it
            } else {
                connections.spawn(connection);
            }
        }
    };
    let finished = async {
        shutdown.soft.cancelled().await;
        connections.close();
        connections.wait().await;
        tasks.close();
        tasks.wait().await;
    };
    let ended = tokio::select! {
        () = accepting => Ok(()),
        () = finished => Ok(()),
        () = shutdown.hard.cancelled() => {
            let unfinished = connections.len();
            connection_shutdown.hard.cancel();
            Err(ServeError::Unfinished(unfinished))
        }
    };
    listening.abort();
    ended
}

async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if concerns_one_connection(&error) => (),
            Err(error) => {
                tracing::error!(%error, "cannot accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

fn concerns_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind as E;
    matches!(error.kind(), E::ConnectionRefused | E::ConnectionAborted | E::ConnectionReset)
}

async fn serve_connection(stream: TcpStream, service: TowerToHyperService<axum::Router>, shutdown: Shutdown) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let is_draining = shutdown.soft.is_cancelled();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_LIMIT);
    let mut connection = std::pin::pin!(http.serve_connection(TokioIo::new(stream), service));
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = shutdown.hard.cancelled() => return,
        () = shutdown.soft.cancelled(), if !is_draining => {
            connection.as_mut().graceful_shutdown();
            tokio::select! { ended = connection => ended, () = shutdown.hard.cancelled() => return }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection error");
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
