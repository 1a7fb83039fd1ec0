//! The machine on which a measurement runs, how the programs were built, and whether others use the machine meanwhile.
//!
//! Before a measurement and between its turns, the machine must be idle for a second, while nothing runs but what waits for
//! requests. And the hypervisor must not have given the cores to other machines for longer than a small share of the time. This
//! can only be seen afterwards: an idle core is not taken away.

use std::{
    fs,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use crate::cpu;

/// The most that other programs, and what waits for requests, may use: 10 % of one core.
const MAX_LOAD_PERCENT: f64 = 10.0;
/// The most that the hypervisor may take: 2 % of the time of all cores, from the beginning of the measurement.
const MAX_STEAL_PERCENT: f64 = 2.0;

/// The time in which the load is measured.
const WINDOW: Duration = Duration::from_secs(1);
/// The time in which the machine must become idle, such as while Postgres cleans up after the last turn.
const PATIENCE: Duration = Duration::from_secs(30);

/// The machine, and what was seen of others.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Machine {
    processor: String,
    n_cores: usize,
    /// How this program was built. `make bench` builds `akhar` in the same way.
    build: String,
    /// Whether the measurement goes on while others use the machine.
    may_be_busy: bool,
    /// The largest load before and between turns, percent of one core.
    load_percent: f64,
    /// What the hypervisor took, percent of the time of all cores.
    steal_percent: f64,
    /// The times at the beginning of the measurement.
    #[serde(skip)]
    began: Option<Times>,
}

/// The times of all cores so far, ticks.
#[derive(Debug, Clone, Copy)]
struct Times {
    busy: u64,
    steal: u64,
    all: u64,
}

impl Machine {
    /// This machine.
    pub(crate) fn new(may_be_busy: bool) -> Self {
        let n_cores = std::thread::available_parallelism().map_or(0, usize::from);
        let build = env!("AKHAR_BENCH_BUILD").to_owned();
        let (load_percent, steal_percent, began) = (0.0, 0.0, None);
        Self { processor: processor(), n_cores, build, may_be_busy, load_percent, steal_percent, began }
    }

    /// Waits until the machine is idle. Every turn begins with it, when nothing else runs.
    ///
    /// Ends the program if the machine does not become idle, or if the hypervisor took too much since the first call.
    pub(crate) async fn rest(&mut self) {
        self.check_steal();
        let deadline = Instant::now() + PATIENCE;
        let mut least = f64::INFINITY;
        loop {
            let load = load_percent().await;
            least = least.min(load);
            if load <= MAX_LOAD_PERCENT || self.may_be_busy {
                break;
            }
            if Instant::now() > deadline {
                refuse(&format!(
                    "the machine is not idle: other programs have used at least {least:.0} % of a core for {} s, and at most \
                     {MAX_LOAD_PERCENT:.0} % are expected",
                    PATIENCE.as_secs()
                ));
            }
        }
        self.load_percent = self.load_percent.max(least);
        self.began.get_or_insert_with(Times::read);
    }

    /// Reads what the hypervisor took until now. Ends the program if it was too much.
    pub(crate) fn check_steal(&mut self) {
        let Some(began) = self.began else { return };
        let now = Times::read();
        let percent = 100.0 * cpu::ms(now.steal - began.steal) / cpu::ms(now.all - began.all).max(1.0);
        self.steal_percent = percent;
        if percent > MAX_STEAL_PERCENT && !self.may_be_busy {
            refuse(&format!(
                "the hypervisor has taken {percent:.1} % of the time of all cores since the measurement began, and at most \
                 {MAX_STEAL_PERCENT:.0} % are expected"
            ));
        }
    }

    /// The processor and how the programs were built.
    pub(crate) fn description(&self) -> String {
        let Self { processor, n_cores, build, .. } = self;
        format!("{processor}, {n_cores} cores, {build}")
    }

    /// The same with what others used, for the head of a report.
    pub(crate) fn line(&self) -> String {
        let Self { load_percent: load, steal_percent: steal, .. } = self;
        let busy = if self.may_be_busy { "MEASURED ON A BUSY MACHINE: " } else { "" };
        format!(
            "{busy}{}; others used {load:.0} % of a core between turns, the hypervisor {steal:.1} % of all cores",
            self.description()
        )
    }
}

impl Times {
    fn read() -> Self {
        let text = fs::read_to_string("/proc/stat").expect("Linux");
        // "cpu", then user, nice, system, idle, iowait, irq, softirq, steal, and times of guests, which are also in the first two.
        let all = text.lines().next().expect("the times of all cores").split_whitespace().skip(1).take(8);
        let all: Vec<u64> = all.map(|ticks| ticks.parse().expect("ticks")).collect();
        let [user, nice, system, _idle, _iowait, irq, softirq, steal] = all[..] else {
            panic!("/proc/stat has {} times instead of 8", all.len())
        };
        Self { busy: user + nice + system + irq + softirq, steal, all: all.iter().sum() }
    }
}

/// Ends the program. What it has started ends with it.
fn refuse(reason: &str) -> ! {
    eprintln!("akhar-bench: {reason}. With --busy-machine it measures all the same, and the report says so");
    std::process::exit(1);
}

/// The use of all cores in a window, percent of one core.
async fn load_percent() -> f64 {
    let (began, started) = (Times::read(), Instant::now());
    sleep(WINDOW).await;
    let busy = cpu::ms(Times::read().busy - began.busy);
    busy / started.elapsed().as_secs_f64() / 10.0
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or_else(|| std::env::consts::ARCH.to_owned(), |(_, name)| name.to_owned())
}
