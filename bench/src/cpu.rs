//! Measures the CPU time of each part of a running service, per answered request.

use std::{
    fs,
    time::{Duration, Instant},
};

use akhar_tests::{
    Cluster, Process, Stack,
    figures::{Row, count},
};
use tokio::time::sleep;

/// The unit of CPU times in `/proc`: 100 ticks a second, whatever the kernel's own rate (`USER_HZ`, proc(5)).
const TICKS_PER_S: f64 = 100.0;

/// The CPU times of the parts so far, ticks.
#[derive(Debug, Clone, Copy)]
struct Ticks {
    postgres: u64,
    worker: u64,
    api: u64,
    client: u64,
}

/// Measures the CPU times of a stack from its creation on. The stack's processes must not change.
#[derive(Debug)]
pub(crate) struct CpuMeter<'a> {
    stack: &'a Stack,
    postmaster: i32,
    before: Ticks,
}

impl<'a> CpuMeter<'a> {
    /// Starts the measurement.
    pub(crate) fn start(stack: &'a Stack, cluster: &Cluster) -> Self {
        let postmaster = cluster.postmaster().as_raw_nonzero().get();
        Self { stack, postmaster, before: read(stack, postmaster) }
    }

    /// The user and system time of each part since the start, ms per request.
    pub(crate) fn per_request(&self, n_requests: usize) -> Row {
        let (now, before) = (read(self.stack, self.postmaster), self.before);
        let ms = |now: u64, before: u64| ms(now.saturating_sub(before)) / count(n_requests);
        let row = [
            ("postgres_cpu_ms", ms(now.postgres, before.postgres)),
            ("worker_cpu_ms", ms(now.worker, before.worker)),
            ("api_cpu_ms", ms(now.api, before.api)),
            ("client_cpu_ms", ms(now.client, before.client)),
        ];
        row.into()
    }
}

/// Measures Postgres, apis and workers for `seconds`, percent of one core.
pub(crate) async fn percent_of(cluster: &Cluster, [apis, workers]: [&[Process]; 2], seconds: u64) -> Row {
    let postmaster = cluster.postmaster().as_raw_nonzero().get();
    let of = |processes: &[Process]| processes.iter().map(|process| own(process.id())).sum::<u64>();
    let ticks = || [server(postmaster), of(apis), of(workers)];
    let before = ticks();
    let started = Instant::now();
    sleep(Duration::from_secs(seconds)).await;
    let after = ticks();
    let took = started.elapsed().as_secs_f64();
    let percent = |nth: usize| ms(after[nth].saturating_sub(before[nth])) / took / 10.0;
    vec![("postgres_percent", percent(0)), ("apis_percent", percent(1)), ("workers_percent", percent(2))]
}

/// Converts ticks to ms.
pub(crate) fn ms(ticks: u64) -> f64 {
    f64::from(u32::try_from(ticks).unwrap_or(u32::MAX)) / TICKS_PER_S * 1e3
}

fn read(stack: &Stack, postmaster: i32) -> Ticks {
    Ticks {
        postgres: server(postmaster),
        worker: stack.workers.iter().map(|w| own(w.id())).sum(),
        api: own(stack.api.id()),
        client: own(i32::try_from(std::process::id()).expect("a process id")),
    }
}

/// The CPU time of Postgres: the postmaster, its running children, and its ended children, whose time the
/// kernel adds to the postmaster's.
pub(crate) fn server(postmaster: i32) -> u64 {
    let root = Times::of(postmaster).expect("the server runs");
    let pids = fs::read_dir("/proc").expect("Linux").flatten();
    let children = pids.filter_map(|p| Times::of(p.file_name().to_str()?.parse().ok()?));
    root.own + root.ended + children.filter(|t| t.parent == postmaster).map(|t| t.own).sum::<u64>()
}

/// The user and system time of all threads of a process.
pub(crate) fn own(pid: i32) -> u64 {
    Times::of(pid).map_or(0, |t| t.own)
}

/// The times of a process in `/proc/<pid>/stat`.
struct Times {
    parent: i32,
    /// The time of the process itself, ticks.
    own: u64,
    /// The time of its children that ended and were waited for, ticks.
    ended: u64,
}

impl Times {
    fn of(pid: i32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The second field is the name in parentheses, which can contain spaces and parentheses. The third is
        // a letter, and the others are numbers.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let number = |nth: usize| fields.get(nth - 3)?.parse::<u64>().ok();
        Some(Self {
            parent: fields.get(1)?.parse().ok()?,
            own: number(14)? + number(15)?,
            ended: number(16)? + number(17)?,
        })
    }
}
