//! Runs a program that starts other processes, and makes sure that all of them end with the benchmark.
//!
//! Servers start their workers in separate sessions, which a signal to a process group or the death of the
//! parent does not reach. So each process of the program has a unique mark in its environment. A shell reads
//! from a pipe that the benchmark holds open. When the pipe closes, because the value is dropped or the
//! benchmark dies, the shell kills all processes with the mark.

use std::{
    fs,
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use crate::cpu;

/// The environment variable of the mark.
const MARK: &str = "AKHAR_BENCH_TREE";

/// The shell's script, run as `sh -c WATCH watch <NAME=value>`. It searches twice, because a process may
/// start another one during the first search.
const WATCH: &str = r#"
cat >/dev/null
for round in 1 2; do
    for environment in $(grep -ls "$1" /proc/[0-9]*/environ); do
        pid=${environment#/proc/}; kill -KILL "${pid%/environ}" 2>/dev/null
    done
done
"#;

/// The running processes. They are killed when the value is dropped.
#[derive(Debug)]
pub(super) struct ProcessTree {
    mark: String,
    root: Child,
    watch: Child,
}

impl ProcessTree {
    /// Starts a command. Its output is written to the file `log`.
    pub(super) fn start(mut command: Command, log: &std::path::Path) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let value = format!("{}-{}.", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let mark = format!("{MARK}={value}");
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", WATCH, "watch", &mark]).stdin(Stdio::piped()).process_group(0);
        let watch = shell.spawn().expect("a shell");
        let file = fs::File::create(log).expect("a log");
        command.env(MARK, value).stdin(Stdio::null()).process_group(0);
        command.stdout(file.try_clone().expect("a log")).stderr(file);
        let root = command.spawn().unwrap_or_else(|e| panic!("{command:?}: {e}; run bench/peers/setup.sh"));
        Self { mark, root, watch }
    }

    /// Whether the first process is still running.
    pub(super) fn is_running(&mut self) -> bool {
        matches!(self.root.try_wait(), Ok(None))
    }

    /// The CPU time of all processes that run now, ms.
    pub(super) fn cpu_ms(&self) -> f64 {
        let processes = fs::read_dir("/proc").expect("Linux").flatten();
        let marked = processes.filter(|p| {
            let environment = fs::read(p.path().join("environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|entry| entry == self.mark.as_bytes())
        });
        let pids = marked.filter_map(|p| p.file_name().to_str()?.parse().ok());
        cpu::ms(pids.map(cpu::own).sum())
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        drop(self.watch.stdin.take());
        // The shell kills all processes, also the first one, and ends.
        drop(self.watch.wait());
        drop(self.root.wait());
    }
}
