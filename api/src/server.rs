//! Accepts and serves connections until shutdown, and then finishes the requests in progress.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use akhar_jobs::uploads::UploadStore;
use akhar_operators::minutes::record_minutes;
use akhar_platform::budget::Budget;
use akhar_platform::{
    config::Config, database::Database, metrics::MetricsError, networks::Networks, open_files,
    reload::LiveConfig, shutdown::Shutdown,
};
use hyper::{
    Request,
    body::Incoming,
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::timeout,
};
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};

use crate::{
    app::App,
    http::{
        peer::{Peer, Place, network},
        slow_reader::SlowReader,
    },
    input::body::MAX_PIECE_BYTES,
    listen::listen,
    measure::{self, Measured},
    router::router,
    ui::playground::DemoKey,
    webhooks::deliver,
};

/// How long a client may take to send a request's headers, and how long a connection may be idle between requests.
const HEADER_LIMIT: Duration = Duration::from_secs(60);
/// File descriptors that are kept for other things than connections of clients, such as those to the database.
const RESERVED_FILES: usize = 128;
/// How long a connection may be idle when the process stops. A request may be on its way, and would be lost if the connection were
/// closed at once.
const LAST_IDLE_LIMIT: Duration = Duration::from_secs(1);
/// The pause after a failed accept, for example if there are no free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

/// Why the server did not shut down cleanly.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address for metrics cannot be used.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    /// The time limit of the shutdown passed while requests were in progress. Holds the number of their connections.
    #[error(
        "stopped while requests on {0} connections were unfinished: the time limit AKHAR_SHUTDOWN_S passed, or a second \
         signal was received"
    )]
    Unfinished(usize),
}

/// Serves requests until `shutdown.soft`, then closes the listener, serves the connections that are open until they are idle, and
/// aborts the rest at `shutdown.hard`.
///
/// `demo_key` is the key that the playground may get.
pub async fn serve(
    listener: TcpListener,
    live: LiveConfig,
    database: Database,
    uploads: UploadStore,
    shutdown: Shutdown,
    demo_key: DemoKey,
) -> Result<(), ServeError> {
    let config = live.now();
    let exporter = measure::start(&config).await?;
    let app = App::new(live.clone(), database, uploads, &shutdown, demo_key);
    let exports = exporter.serve(Measured::of(app.clone()));
    let total = max_connections(&config);
    let limits = ConnectionLimits {
        total,
        addresses: Budget::new(usize::MAX, (total / 2).max(1)),
        proxies: config.trusted_proxies.clone().unwrap_or_default(),
    };
    let following = AbortOnDropHandle::new(tokio::spawn(follow(live, app.clone())));
    let served = serve_app(listener, app, limits, shutdown).await;
    drop(following);
    exports.finish().await;
    served
}

/// Takes over the limits whenever the configuration changes.
async fn follow(mut live: LiveConfig, app: App) {
    loop {
        live.changed().await;
        app.take_over(&live.now());
    }
}

/// How many connections may be open at a time.
#[derive(Debug)]
struct ConnectionLimits {
    total: usize,
    /// Those of each address that is not a proxy's: see [`network`].
    addresses: Arc<Budget<IpAddr>>,
    proxies: Networks,
}

/// The most connections at a time: as many as are configured, if the process may open so many files.
fn max_connections(config: &Config) -> usize {
    let wanted = config.max_connections.get();
    let files = open_files::raise_limit();
    let possible = files.saturating_sub(RESERVED_FILES).max(1);
    if possible < wanted {
        tracing::warn!(
            wanted,
            possible,
            files,
            "the limit of open files (ulimit -n) is too low for AKHAR_MAX_CONNECTIONS"
        );
    }
    wanted.min(possible).min(Semaphore::MAX_PERMITS)
}

async fn serve_app(
    listener: TcpListener,
    app: App,
    limits: ConnectionLimits,
    shutdown: Shutdown,
) -> Result<(), ServeError> {
    let _helpers = start_helpers(&app);
    let tasks = app.tasks.clone();
    let service = TowerToHyperService::new(router(app));
    let connections = TaskTracker::new();
    // Connections get their own hard token, so that they can be counted before they are aborted.
    let connection_shutdown = Shutdown { hard: CancellationToken::new(), ..shutdown.clone() };
    let served = async {
        // Takes the listener, and closes it.
        tokio::select! {
            biased; // who has connected before the end is served
            () = accept_all(listener, limits, &connections, service, &connection_shutdown) => (),
            () = shutdown.soft.cancelled() => (),
        }
        connections.close();
        connections.wait().await;
        tasks.close();
        tasks.wait().await;
    };
    tokio::select! {
        () = served => Ok(()),
        () = shutdown.hard.cancelled() => {
            let unfinished = connections.len();
            connection_shutdown.hard.cancel();
            Err(ServeError::Unfinished(unfinished))
        }
    }
}

/// Serves whoever connects, for ever.
async fn accept_all(
    listener: TcpListener,
    limits: ConnectionLimits,
    connections: &TaskTracker,
    service: TowerToHyperService<axum::Router>,
    shutdown: &Shutdown,
) {
    let places = Arc::new(Semaphore::new(limits.total));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return }; // the semaphore is never closed
        let (stream, address) = accept(&listener).await;
        let is_proxy = limits.proxies.contain(address.ip().to_canonical());
        let share = (!is_proxy).then(|| limits.addresses.take(network(address.ip()), 1)).transpose();
        let Ok(share) = share else {
            tracing::debug!(%address, "the address has too many connections: closing one");
            continue;
        };
        let place = Place::new(place, share);
        connections.spawn(serve_connection(
            stream,
            service.clone(),
            (Peer(address.ip()), place),
            shutdown.clone(),
        ));
    }
}

/// Starts the tasks that run beside the requests. They end when what this returns is dropped.
pub(crate) fn start_helpers(app: &App) -> [AbortOnDropHandle<()>; 6] {
    let database = app.database.clone();
    [
        tokio::spawn(listen(app.clone())),
        tokio::spawn(deliver(app.clone())),
        tokio::spawn(record_minutes(database.pool.clone())),
        tokio::spawn(app.stored.clone().estimate(database.pool.clone())),
        tokio::spawn(app.readiness.clone().look(database.clone())),
        tokio::spawn(async move { database.follow_replica().await }),
    ]
    .map(AbortOnDropHandle::new)
}

async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
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

/// Serves the requests of a connection. They know the address that they come from.
async fn serve_connection(
    stream: TcpStream,
    service: TowerToHyperService<axum::Router>,
    (peer, place): (Peer, Place),
    shutdown: Shutdown,
) {
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        request.extensions_mut().insert(place.clone());
        service.call(request)
    });
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_LIMIT).max_buf_size(MAX_PIECE_BYTES);
    let stream = TokioIo::new(SlowReader::new(stream));
    let mut connection = std::pin::pin!(http.serve_connection(stream, service).with_upgrades());
    let must_end = async {
        shutdown.soft.cancelled().await;
        // Each answer closes its connection from now on.
        let _ = timeout(LAST_IDLE_LIMIT, shutdown.deadline.cancelled()).await;
    };
    let ended = tokio::select! {
        biased; // a request that has arrived is served
        ended = connection.as_mut() => ended,
        () = shutdown.hard.cancelled() => return,
        () = must_end => {
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
