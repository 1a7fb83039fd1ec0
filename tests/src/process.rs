//! Starts a process, usually of the product, and collects the lines that it prints.

use std::{
    process::{ExitStatus, Output, Stdio},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader},
    process::{Child, Command},
    time::timeout,
};

use crate::{TIMEOUT, binary, until};

/// The most memory that a process of this name may have resident, MiB. The worker's has all bundled models. A process of a test
/// must stay below it, whatever the test sends.
const MAX_MEMORY_MIB: [(&str, f64); 2] = [("api", 300.0), ("worker", 500.0)];

/// A running process. It is killed when the value is dropped. If its test fails, its log is printed.
#[derive(Debug)]
pub struct Process {
    name: &'static str,
    /// Starts the process again.
    command: Command,
    child: Child,
    pid: Pid,
    out: Lines,
    log: Lines,
    /// `None` if it may have any amount.
    max_memory_mib: Option<f64>,
}

/// The lines that came out of a pipe so far.
#[derive(Debug, Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn of(pipe: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let lines = Self::default();
        let kept = lines.clone();
        tokio::spawn(async move {
            let mut reader = BufReader::new(pipe).lines();
            while let Ok(Some(line)) = reader.next_line().await {
                kept.0.lock().push(line);
            }
        });
        lines
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().clone()
    }
}

/// A command of the product with this environment. The test's own `AKHAR_*` variables are removed, and the
/// command runs in a folder without an `akhar.toml`.
pub fn command<'a>(
    arguments: &[&str],
    environment: impl IntoIterator<Item = &'a (String, String)>,
) -> Command {
    let mut command = Command::new(binary());
    command.arg0("akhar"); // as from a folder in PATH
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

    /// Starts a command. `name` names it in error messages.
    pub fn spawn(name: &'static str, mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let out = Lines::of(child.stdout.take().expect("piped"));
        let log = Lines::of(child.stderr.take().expect("piped"));
        let limit = MAX_MEMORY_MIB.into_iter().find(|(limited, _)| *limited == name);
        let max_memory_mib = limit.map(|(_, mib)| mib);
        Self { name, command, child, pid: id.expect("it was just started"), out, log, max_memory_mib }
    }

    /// Sets a variable of the environment of the next start.
    pub fn set(&mut self, name: &str, value: &str) {
        self.command.env(name, value);
    }

    /// Ends the process with this signal, unless it has ended, and starts it again with the same settings. Returns the
    /// status of its end.
    pub async fn start_again(&mut self, signal: Signal) -> ExitStatus {
        if self.child.id().is_some() {
            self.signal(signal);
        }
        let status = self.ended().await;
        let command = std::mem::replace(&mut self.command, Command::new(""));
        *self = Self::spawn(self.name, command);
        status
    }

    /// The same. The new process has printed its first line when this returns.
    pub async fn restart(&mut self, signal: Signal) -> ExitStatus {
        let status = self.start_again(signal).await;
        self.first_line().await;
        status
    }

    /// The address that the process printed in its first line, such as `http://127.0.0.1:41234`.
    pub async fn address(&mut self) -> String {
        let line = self.first_line().await;
        line.strip_prefix("listening on ").unwrap_or_else(|| panic!("first line: {line}")).to_owned()
    }

    /// Waits for the first line on standard output. Panics when the process ends before.
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

    /// Whether the process has ended.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// The lines on standard output so far.
    pub fn lines(&self) -> Vec<String> {
        self.out.all()
    }

    /// The lines on standard error so far.
    pub fn log(&self) -> Vec<String> {
        self.log.all()
    }

    /// The process id.
    pub fn id(&self) -> i32 {
        self.pid.as_raw_nonzero().get()
    }

    /// Sends a signal to the process.
    pub fn signal(&self, signal: Signal) {
        self.check_memory();
        kill_process(self.pid, signal).expect("a signal reaches it");
    }

    /// Kills the process (-9). Returns when it is gone.
    pub async fn kill(&mut self) {
        self.check_memory();
        self.child.kill().await.expect("a kill");
    }

    /// Waits until the process ends.
    pub async fn ended(&mut self) -> ExitStatus {
        let ended = timeout(TIMEOUT, self.child.wait()).await;
        ended.unwrap_or_else(|_| panic!("{} does not end", self.name)).expect("a wait")
    }

    /// The user and system time of all its threads so far.
    pub fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id())).expect("a running process");
        // The name, the second field, is in parentheses and may have spaces. A tick is 10 ms (`USER_HZ`, proc(5)).
        let (_, fields) = stat.rsplit_once(')').expect("a name");
        let ticks = fields.split_whitespace().skip(11).take(2).map(|n| n.parse::<u64>().expect("a number"));
        Duration::from_millis(10 * ticks.sum::<u64>())
    }

    /// The resident memory now and at its peak, KiB. Linux adds up what each processor counts only now and
    /// then, so that a later peak can be a little lower than an earlier one.
    pub fn memory_kib(&self) -> (u64, u64) {
        self.find_memory_kib().expect("a running process")
    }

    /// `None` if the process has ended.
    fn find_memory_kib(&self) -> Option<(u64, u64)> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()?)).ok()?;
        let field = |name: &str| {
            let line = status.lines().find_map(|l| l.strip_prefix(name))?;
            line.trim().trim_end_matches(" kB").parse().ok()
        };
        Some((field("VmRSS:")?, field("VmHWM:")?))
    }

    /// The resident memory now and at its peak, MiB.
    pub fn memory_mib(&self) -> (f64, f64) {
        let (now, peak) = self.memory_kib();
        (mib(now), mib(peak))
    }

    /// Prints the peak of the memory of a process that is about to end, and panics if it is too high. The release profile is that
    /// of benchmarks and attacks, which load a process more than a test, and measure its memory.
    fn check_memory(&self) {
        if let (true, Some(limit), Some((_, peak))) =
            (cfg!(debug_assertions), self.max_memory_mib, self.find_memory_kib())
        {
            let (name, peak) = (self.name, mib(peak));
            println!("{name}: {peak:.0} MiB of memory at most");
            assert!(peak <= limit, "{name} had {peak:.0} MiB of memory, expected at most {limit} MiB");
        }
    }

    /// Makes the kernel forget the peak so far (`clear_refs`, proc(5)).
    pub fn reset_peak(&self) {
        std::fs::write(format!("/proc/{}/clear_refs", self.id()), "5").expect("the peak is reset");
    }
}

fn mib(kib: u64) -> f64 {
    f64::from(u32::try_from(kib).unwrap_or(u32::MAX)) / 1024.0
}

/// Stops processes as an operator does, and checks that they end well.
pub async fn stop_all(processes: impl IntoIterator<Item = Process>) {
    let processes: Vec<Process> = processes.into_iter().collect();
    for process in &processes {
        process.signal(Signal::TERM);
    }
    for mut process in processes {
        assert!(process.ended().await.success(), "{} did not stop well", process.name);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = self.log();
            let n_last = log.len().saturating_sub(20);
            let shown = log.iter().enumerate().filter(|(i, line)| *i >= n_last || !line.contains("\"INFO\""));
            let shown: Vec<&str> = shown.map(|(_, line)| line.as_str()).collect();
            let (name, id) = (self.name, self.id());
            eprintln!("--- warnings and last lines of {name} ({id}):\n{}", shown.join("\n"));
        } else {
            self.check_memory();
        }
    }
}

/// Runs a command to its end. Returns its exit code and what it printed to stdout and to stderr.
pub async fn run(mut command: Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().await.expect("it runs");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    #[should_panic(expected = "MiB of memory, expected at most 300 MiB")]
    async fn an_api_that_needs_too_much_memory_fails_its_test() {
        let mut copies = Command::new("dd");
        copies.args(["if=/dev/zero", "of=/dev/null", "bs=310M"]).kill_on_drop(true);
        let process = Process::spawn("api", copies);
        until("it has more memory", async || (process.memory_kib().1 > 310 << 10).then_some(())).await;
        drop(process);
    }
}
