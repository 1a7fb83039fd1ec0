//! `akhar serve`: database, migrations, api and a worker in one process tree. The worker is a child, so
//! that a crash in a model's native code costs a restart and not the front end.

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

/// Wait before a worker that died is started again.
const RESTART_PAUSE: Duration = Duration::from_millis(500);

/// Runs everything until told to stop; then the front end drains, the worker finishes, the database stops.
pub(crate) async fn run(config: Config) -> Result<(), Failure> {
    let shutdown = Shutdown::on_signals(config.shutdown_limit()).map_err(Failure::io("signals"))?;
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
    let address = listener.local_addr().map_err(Failure::io("listener"))?;

    let worker_stop = CancellationToken::new();
    let (ready, warm) = oneshot::channel();
    let worker = tokio::spawn(supervise(url, worker_stop.clone(), ready));
    let served = tokio::select! {
        served = serve_when_warm(warm, key, address, api::serve(listener, config, database.clone(), shutdown.clone())) => served,
        () = shutdown.hard.cancelled() => Ok(()),
    };
    worker_stop.cancel();
    let finished = worker.await.unwrap_or(Err(Failure::WorkerStart));
    database.close().await;
    served.and(finished)
}

/// Serves at once, and shows the key once the worker is warm; a worker that cannot start ends it all.
async fn serve_when_warm(
    warm: oneshot::Receiver<()>,
    key: Option<String>,
    address: SocketAddr,
    api: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    tokio::pin!(api);
    tokio::select! {
        served = &mut api => return served,
        warm = warm => warm.map_err(|_| Failure::WorkerStart)?,
    }
    if let Some(key) = key {
        demo::print(&key, address);
    }
    api.await
}

/// Keeps a worker running until told to stop. One that dies before it was ever warm is not started
/// again: whatever is wrong with it will be wrong the next time.
async fn supervise(url: String, stop: CancellationToken, ready: oneshot::Sender<()>) -> Result<(), Failure> {
    let mut ready = Some(ready);
    loop {
        let mut child = spawn(&url)?;
        let mut lines = child.stdout.take().map(|out| BufReader::new(out).lines());
        let stdin = child.stdin.take(); // held: the worker stops when it closes
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
                    child.wait().await.map_err(Failure::io("worker"))?;
                    return Ok(());
                }
            }
        }
        let status = child.wait().await.map_err(Failure::io("worker"))?;
        if ready.is_some() {
            return Err(Failure::WorkerStart);
        }
        tracing::error!(%status, "the worker died: starting another");
        tokio::time::sleep(RESTART_PAUSE).await;
    }
}

/// Starts a worker that a signal to our group does not reach: it must outlive the front end's draining.
fn spawn(url: &str) -> Result<Child, Failure> {
    let program = std::env::current_exe().map_err(Failure::io("own program"))?;
    Command::new(program)
        .args(["worker", "--with-parent"])
        .env("AKHAR_DATABASE_URL", url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(Failure::io("worker"))
}
