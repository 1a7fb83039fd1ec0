//! The worker of `akhar serve`. It is a child process, so that a crash in a model's native code does not stop the HTTP
//! server.

use std::{net::SocketAddr, process::Stdio, time::Duration};

use akhar_jobs::store;
use akhar_platform::database::Pool;
use akhar_platform::{reload::LiveConfig, shutdown::Shutdown};
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, Command},
    sync::oneshot,
};
use tokio_util::sync::CancellationToken;

use super::hung::hangs;
use crate::{
    failure::Failure,
    worker::{FINISH, READY},
};

/// The pause before a worker that died is started again.
const RESTART_PAUSE: Duration = Duration::from_millis(500);

/// Runs a worker until `finish`, and starts it again whenever it dies. One that hangs is killed first. A worker that dies before it was ready for the
/// first time is not started again, because it would fail for the same reason. `environment` has variables for it, which
/// those of this process override. It serves metrics at the port
/// behind that of `metrics`, and none without one.
///
/// A worker that died is removed from the list of workers in `db`. The worker reads the configuration again whenever this
/// process has done so.
pub(super) async fn supervise(
    (url, db): (String, Pool),
    environment: Vec<(&'static str, String)>,
    metrics: Option<SocketAddr>,
    mut settings: LiveConfig,
    finish: CancellationToken,
    shutdown: Shutdown,
    ready: oneshot::Sender<()>,
) -> Result<(), Failure> {
    let mut ready = Some(ready);
    loop {
        let mut child = spawn(&url, &environment, metrics)?;
        let process = child.id();
        let mut lines = child.stdout.take().map(|out| BufReader::new(out).lines());
        let stdin = child.stdin.take(); // kept open: see `FINISH`
        let mut is_ready = false;
        let mut must_reload = false;
        let hung = hangs(&db, process);
        tokio::pin!(hung);
        loop {
            let line = async {
                match &mut lines {
                    Some(lines) => lines.next_line().await.unwrap_or(None),
                    None => None,
                }
            };
            tokio::select! {
                line = line => match line {
                    Some(line) if line == READY => {
                        ready.take().map(|ready| ready.send(()));
                        is_ready = true;
                    }
                    Some(_) => (),
                    None => break,
                },
                () = settings.changed() => must_reload = true,
                () = &mut hung, if is_ready => {
                    tracing::error!(process, "the worker sends no heartbeats although the database answers: killing it");
                    child.start_kill().map_err(Failure::io("cannot kill the worker"))?;
                    break;
                }
                () = finish.cancelled() => return end(child, stdin, &shutdown).await,
            }
            if is_ready && std::mem::take(&mut must_reload) {
                reload(&child);
            }
        }
        #[expect(clippy::disallowed_methods, reason = "it has closed its output or is killed")]
        let status = child.wait().await.map_err(cannot_wait)?;
        if ready.is_some() {
            return Err(Failure::WorkerStart);
        }
        tracing::error!(%status, "the worker died: starting it again");
        if let Some(process) = process {
            // It may have died because the database is away. The next worker does not wait for that.
            tokio::spawn(remove(db.clone(), process));
        }
        tokio::select! {
            () = tokio::time::sleep(RESTART_PAUSE) => (),
            () = finish.cancelled() => return Ok(()),
        }
    }
}

/// Lets the worker finish its jobs until the deadline, and return the others to their queues until the hard step. Then
/// kills it.
#[expect(clippy::disallowed_methods, reason = "the steps of the shutdown end it")]
async fn end(mut child: Child, mut stdin: Option<ChildStdin>, shutdown: &Shutdown) -> Result<(), Failure> {
    if let Some(stdin) = &mut stdin {
        // An error means that the worker has ended.
        let _ = stdin.write_all(format!("{FINISH}\n").as_bytes()).await;
    }
    tokio::select! {
        ended = child.wait() => return ended.map(|_| ()).map_err(cannot_wait),
        () = shutdown.deadline.cancelled() => drop(stdin),
    }
    tokio::select! {
        ended = child.wait() => ended.map(|_| ()).map_err(cannot_wait),
        () = shutdown.hard.cancelled() => {
            tracing::warn!("killing the worker: its unfinished jobs are run again after the next start");
            child.kill().await.map_err(cannot_wait)
        }
    }
}

/// Removes a worker that died from the list of workers. If that fails, a sweeper does it later.
async fn remove(db: Pool, process: u32) {
    if let Err(error) = store::remove_workers(&db, &akhar_worker::name_start(process)).await {
        tracing::warn!(%error, "could not remove the worker that died from the list of workers");
    }
}

/// Tells a worker to read the configuration again.
fn reload(child: &Child) {
    let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    // A worker that has ended is started again, and reads the configuration then.
    let _ = id.map(|id| kill_process(id, Signal::HUP));
}

fn cannot_wait(error: std::io::Error) -> Failure {
    Failure::io("cannot wait for the worker")(error)
}

/// Starts a worker in its own process group. A signal to the group of this process does not reach it, so it keeps
/// working while the HTTP server finishes its requests.
fn spawn(
    url: &str,
    environment: &[(&'static str, String)],
    metrics: Option<SocketAddr>,
) -> Result<Child, Failure> {
    let program = std::env::current_exe().map_err(Failure::io("cannot find the akhar program"))?;
    // Port 0 takes a free one, for both.
    let metrics = metrics.map(|api| {
        let port = if api.port() == 0 { 0 } else { api.port().saturating_add(1) };
        SocketAddr::new(api.ip(), port).to_string()
    });
    let is_set = |name: &str| std::env::var(name).is_ok_and(|set| !set.trim().is_empty());
    Command::new(program)
        .envs(environment.iter().filter(|(name, _)| !is_set(name)).map(|(name, value)| (name, value)))
        .args(["worker", "--with-parent"])
        .args(metrics.is_none().then_some("--without-metrics"))
        .envs(metrics.map(|address| ("AKHAR_METRICS_LISTEN", address)))
        .env("AKHAR_DATABASE_URL", url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(Failure::io("cannot start the worker"))
}
