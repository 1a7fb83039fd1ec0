//! `akhar serve`: runs the database, the migrations, the HTTP server and a worker.

mod embedded;
mod hung;
mod postgres;
mod worker;

use std::net::SocketAddr;

use akhar_api::{DemoKey, ServeError};
use akhar_platform::{config::Config, database::Servers, reload::LiveConfig, shutdown::Shutdown, supervisor};
use secrecy::ExposeSecret as _;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::{
    api, connect,
    demo::{self, Demo},
    failure::Failure,
    uploads,
};
pub(crate) use embedded::Embedded;
use postgres::Supervised;

/// A service that accepts requests.
struct Ready {
    address: SocketAddr,
    /// The demo key, if there is one.
    demo: Option<Demo>,
    /// The link to the playground, which gets the demo key by it once.
    link: Option<String>,
}

/// What differs between `akhar serve` and the service of another command.
struct ServeOptions {
    /// Called when the service is ready.
    on_ready: Box<dyn FnOnce(Ready) -> Result<(), Failure> + Send>,
    /// Whether the playground gets the demo key by a link.
    has_link: bool,
    /// Environment variables of the worker, if they are not set.
    worker_environment: Vec<(&'static str, String)>,
}

/// Runs everything until a signal stops the process.
pub(crate) async fn run(config: Config) -> Result<(), Failure> {
    let shutdown = Shutdown::on_signals(config.drain_notice(), config.shutdown_limit())
        .map_err(Failure::io("cannot install signal handlers"))?;
    let live =
        LiveConfig::follow_signals(config.clone()).map_err(Failure::io("cannot install a signal handler"))?;
    let stopping = shutdown.clone();
    let on_ready = move |ready: Ready| {
        supervisor::ready(&stopping);
        announce(ready)
    };
    let serve_options =
        ServeOptions { on_ready: Box::new(on_ready), has_link: true, worker_environment: Vec::new() };
    run_until(&config, live, &shutdown, serve_options).await
}

/// Runs everything until `shutdown`. Then the HTTP server finishes its requests, the worker finishes its jobs, and the
/// private database stops, in this order.
async fn run_until(
    config: &Config,
    live: LiveConfig,
    shutdown: &Shutdown,
    serve_options: ServeOptions,
) -> Result<(), Failure> {
    let Some(servers) = connect::configured_servers(config)? else {
        let private = connect::start(config).await?;
        let servers = private.options().into();
        let url = private.url();
        let private = Supervised::new(private);
        let served = serve(config, live, (servers, url), true, shutdown, serve_options).await;
        return served.and(private.stop().await);
    };
    let url = config.database_url.as_ref().ok_or(Failure::NoDatabase)?.expose_secret().to_owned();
    serve(config, live, (servers, url), false, shutdown, serve_options).await
}

/// Prints the address, and the key and the link if they may be printed.
fn announce(Ready { address, demo, link }: Ready) -> Result<(), Failure> {
    api::announce(address)?;
    match demo {
        Some(demo) => demo::print(&demo, address, link.as_deref()).or_else(Failure::unless_output_closed),
        None => Ok(()),
    }
}

async fn serve(
    config: &Config,
    live: LiveConfig,
    (servers, url): (Servers, String),
    is_private: bool,
    shutdown: &Shutdown,
    serve_options: ServeOptions,
) -> Result<(), Failure> {
    let database = connect::connect("akhar-serve", servers, config).await?;
    akhar_migrations::migrate(&database.pool).await?;
    let demo = demo::key(&database.pool, is_private.then_some(config.data_dir.as_path())).await?;
    let uploads = uploads::open(config).await?;
    let listener = api::listen(config)?;
    let address = api::address(&listener)?;

    let offered = demo.as_ref().filter(|_| serve_options.has_link);
    let (demo_key, link) = offered.map_or((DemoKey::none(), None), |demo| DemoKey::offer(address, &demo.key));

    let finish_worker = CancellationToken::new();
    let (ready_sender, ready) = oneshot::channel();
    let worker = tokio::spawn(worker::supervise(
        (url, database.pool.clone()),
        serve_options.worker_environment,
        config.metrics_listen,
        live.clone(),
        finish_worker.clone(),
        shutdown.clone(),
        ready_sender,
    ));
    let api = akhar_api::serve(listener, live, database.clone(), uploads.clone(), shutdown.clone(), demo_key);
    let served =
        serve_and_announce(ready, || (serve_options.on_ready)(Ready { address, demo, link }), api).await;
    finish_worker.cancel();
    let finished = worker.await.unwrap_or(Err(Failure::WorkerStart));
    uploads::close(uploads).await;
    database.close();
    served.and(finished)
}

/// Serves requests, and calls `on_ready` when the worker is ready. Fails if the worker cannot start.
async fn serve_and_announce(
    ready: oneshot::Receiver<()>,
    on_ready: impl FnOnce() -> Result<(), Failure>,
    api: impl Future<Output = Result<(), ServeError>>,
) -> Result<(), Failure> {
    tokio::pin!(api);
    tokio::select! {
        served = &mut api => return Ok(served?),
        ready = ready => ready.map_err(|_| Failure::WorkerStart)?,
    }
    on_ready()?;
    Ok(api.await?)
}
