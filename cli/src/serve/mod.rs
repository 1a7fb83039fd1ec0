//! `akhar serve`: runs the database, the migrations, the HTTP server and a worker. The worker is a child process, so
//! that a crash in a model's native code does not stop the HTTP server.

use std::{net::SocketAddr, process::Stdio, time::Duration};

use akhar_platform::{
    config::Config,
    database::{Database, PrivatePostgres},
    shutdown::Shutdown,
};
use secrecy::ExposeSecret as _;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
    sync::oneshot,
};
use tokio_util::sync::CancellationToken;

use crate::{api, connect, demo, failure::Failure, worker::READY};

/// The pause before a worker that died is started again.
const RESTART_PAUSE: Duration = Duration::from_millis(500);

/// Runs everything until a signal stops the process. Then the HTTP server finishes its requests, the worker finishes
/// its jobs, and the private database stops, in this order.
pub(crate) async fn run(config: Config) -> Result<(), Failure> {
    let shutdown = Shutdown::on_signals(config.shutdown_limit())
        .map_err(Failure::io("cannot install signal handlers"))?;
    let private = match connect::configured_options(&config)? {
        Some(_) => None,
        None => Some(connect::start(config.data_dir.clone()).await?),
    };
    let served = serve(&config, private.as_ref(), &shutdown).await;
    if let Some(private) = private {
        connect::stop(private).await?;
    }
    served
}

async fn serve(
    config: &Config,
    private: Option<&PrivatePostgres>,
    shutdown: &Shutdown,
) -> Result<(), Failure> {
    let (options, url) = match (private, connect::configured_options(config)?, &config.database_url) {
        (Some(private), ..) => (private.options(), private.url()),
        (None, Some(options), Some(url)) => (options, url.expose_secret().to_owned()),
        _ => return Err(Failure::NoDatabase),
    };
    let database = Database::connect("akhar-serve", &options, config.database_connections.get()).await?;
    akhar_migrations::migrate(&database.durable).await?;
    let key = demo::key(&database.durable, private.map(|_| config.data_dir.as_path())).await?;
    let listener = api::listen(config).await?;
    let address = listener.local_addr().map_err(Failure::io("cannot read the listening address"))?;

    let worker_stop = CancellationToken::new();
    let (ready_sender, ready) = oneshot::channel();
    let worker = tokio::spawn(supervise(url, worker_stop.clone(), ready_sender));
    let served = tokio::select! {
        served = serve_and_print_key(ready, key, address, api::serve(listener, config, database.clone(), shutdown.clone())) => served,
        () = shutdown.hard.cancelled() => Ok(()),
    };
    worker_stop.cancel();
    let finished = worker.await.unwrap_or(Err(Failure::WorkerStart));
    database.close().await;
    served.and(finished)
}

/// Serves requests, and prints the key when the worker is ready. Fails if the worker cannot start.
async fn serve_and_print_key(
    ready: oneshot::Receiver<()>,
    key: Option<String>,
    address: SocketAddr,
    api: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    tokio::pin!(api);
    tokio::select! {
        served = &mut api => return served,
        ready = ready => ready.map_err(|_| Failure::WorkerStart)?,
    }
    if let Some(key) = key {
        demo::print(&key, address);
    }
    api.await
}

/// Runs a worker until `stop`, and starts it again whenever it dies. A worker that dies before it was ready for the
/// first time is not started again, because it would fail for the same reason.
async fn supervise(url: String, stop: CancellationToken, ready: oneshot::Sender<()>) -> Result<(), Failure> {
    let mut ready = Some(ready);
    loop {
        let mut child = spawn(&url)?;
        let mut lines = child.stdout.take().map(|out| BufReader::new(out).lines());
        let stdin = child.stdin.take(); // kept open, because the worker stops when its stdin closes
        loop {
            let line = async {
                match &mut lines {
                    Some(lines) => lines.next_line().await.unwrap_or(None),
                    None => None,
                }
            };
            tokio::select! {
                line = line => match line {
                    Some(line) if line == READY => { ready.take().map(|ready| ready.send(())); }
                    Some(_) => (),
                    None => break,
                },
                () = stop.cancelled() => {
                    drop(stdin);
                    child.wait().await.map_err(Failure::io("cannot wait for the worker"))?;
                    return Ok(());
                }
            }
        }
        let status = child.wait().await.map_err(Failure::io("cannot wait for the worker"))?;
        if ready.is_some() {
            return Err(Failure::WorkerStart);
        }
        tracing::error!(%status, "the worker died: starting it again");
        tokio::time::sleep(RESTART_PAUSE).await;
    }
}

/// Starts a worker in its own process group. A signal to the group of this process does not reach it, so it keeps
/// working while the HTTP server finishes its requests.
fn spawn(url: &str) -> Result<Child, Failure> {
    let program = std::env::current_exe().map_err(Failure::io("cannot find the akhar program"))?;
    Command::new(program)
        .args(["worker", "--with-parent"])
        .env("AKHAR_DATABASE_URL", url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(Failure::io("cannot start the worker"))
}
