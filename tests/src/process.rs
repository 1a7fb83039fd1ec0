//! A process, usually of the product: a command comes in, its lines and its end come out.

use std::{
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
};

use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader},
    process::{Child, Command},
    time::timeout,
};

use crate::{PATIENCE, binary, until};

/// A running process; killed when dropped. What it had logged is shown when its test fails.
#[derive(Debug)]
pub struct Process {
    name: &'static str,
    child: Child,
    pid: Pid,
    out: Lines,
    log: Lines,
}

/// What came out of a pipe so far, by line.
#[derive(Debug, Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn of(pipe: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let lines = Self::default();
        let kept = lines.clone();
        tokio::spawn(async move {
            let mut reader = BufReader::new(pipe).lines();
            while let Ok(Some(line)) = reader.next_line().await {
                kept.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
            }
        });
        lines
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// A command of the product with this environment and none of the caller's own `AKHAR_*` names, run from
/// a folder without an `akhar.toml`.
pub fn command<'a>(
    arguments: &[&str],
    environment: impl IntoIterator<Item = &'a (String, String)>,
) -> Command {
    let mut command = Command::new(binary());
    for (name, _) in std::env::vars_os() {
        if name == "RUST_LOG" || name.to_string_lossy().starts_with("AKHAR_") {
            command.env_remove(name);
        }
    }
    command.args(arguments).current_dir("/").stdin(Stdio::null()).kill_on_drop(true);
    command.envs(environment.into_iter().map(|(name, value)| (name, value)));
    command
}

impl Process {
    /// Starts `akhar <subcommand>`.
    pub fn start<'a>(
        subcommand: &'static str,
        environment: impl IntoIterator<Item = &'a (String, String)>,
    ) -> Self {
        Self::spawn(subcommand, command(&[subcommand], environment))
    }

    /// Starts any command, to be called `name`.
    pub fn spawn(name: &'static str, mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let out = Lines::of(child.stdout.take().expect("piped"));
        let log = Lines::of(child.stderr.take().expect("piped"));
        Self { name, child, pid: id.expect("it was just started"), out, log }
    }

    /// Waits for its first line on standard output.
    pub async fn first_line(&mut self) -> String {
        let (out, log, child, name) = (&self.out, &self.log, &mut self.child, self.name);
        until(&format!("{name} prints its first line"), async || {
            if let Some(line) = out.all().into_iter().next() {
                return Some(line);
            }
            if let Ok(Some(status)) = child.try_wait() {
                panic!("{name} ended with {status}:\n{}", log.all().join("\n"));
            }
            None
        })
        .await
    }

    /// Its lines on standard output so far.
    pub fn lines(&self) -> Vec<String> {
        self.out.all()
    }

    /// Its lines on standard error so far.
    pub fn log(&self) -> Vec<String> {
        self.log.all()
    }

    /// Its process id.
    pub fn id(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid, signal).expect("a signal reaches it");
    }

    /// kill -9; returns once it is gone.
    pub async fn kill(&mut self) {
        self.child.kill().await.expect("a kill");
    }

    /// Waits for its end.
    pub async fn ended(&mut self) -> ExitStatus {
        let ended = timeout(PATIENCE, self.child.wait()).await;
        ended.unwrap_or_else(|_| panic!("{} does not end", self.name)).expect("a wait")
    }

    /// Memory it holds now and held at most, in KiB, as Linux counts them.
    pub fn memory_kib(&self) -> (u64, u64) {
        let path = format!("/proc/{}/status", self.id());
        let status = std::fs::read_to_string(path).expect("a running process");
        let field = |name: &str| {
            let line = status.lines().find_map(|l| l.strip_prefix(name)).expect("Linux tells it");
            line.trim().trim_end_matches(" kB").parse().expect("a number")
        };
        (field("VmRSS:"), field("VmHWM:"))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.log();
            let n_last = log.len().saturating_sub(20);
            let told = log.iter().enumerate().filter(|(i, line)| *i >= n_last || !line.contains("\"INFO\""));
            let told: Vec<&str> = told.map(|(_, line)| line.as_str()).collect();
            eprintln!("--- {} ({}), its warnings and last lines:\n{}", self.name, self.id(), told.join("\n"));
        }
    }
}
