//! The service under attack: what an innocent caller gets beside an attack, and what the attack leaves behind.

use std::time::{Duration, Instant};

use akhar_tests::{
    Cluster, Stack,
    ends::n_of,
    figures::{Row, line, number},
};

use super::{attacker::Answers, innocents::Innocents};

/// The longest time that the service may need, after an attack, until no job is queued or running.
const TO_REST: Duration = Duration::from_secs(60);

/// Attacks whose work is as small as their requests. The innocent caller is observed for [`AFTER`] when one is over, too.
const BOUNDED: [&str; 3] = ["endless-heads", "small-chunks", "hang-ups-anywhere"];
const AFTER: Duration = Duration::from_secs(10);

/// The attack of an account that stores as much as it may. It goes on for longer than others, because what is stored
/// is estimated once a minute.
pub(super) const STORED: &str = "stored-bytes";
const STORED_SECONDS: u64 = 180;

/// The attack of the innocent caller's own account, with recordings that nobody waits for.
pub(super) const OWN: &str = "own-recordings";

/// The greatest values beside attacks: beside all, or those with these names.
const LIMITS: [(&[&str], &str, f64); 7] = [
    (&[], "p99_ms", 300.0),
    (&[], "speech_p99_ms", 3000.0),
    (&[], "api_peak_mib", 300.0),
    (&[], "worker_peak_mib", 600.0),
    (&BOUNDED, "p50_ms", 30.0),
    (&[OWN], "speech_p99_ms", 1000.0),
    (&[STORED], "times_p50", 1.3),
];

/// The time after which a service without jobs rests: then, in as much time again, each process uses
/// [`MAX_RESTING_CPU`] of a core at most.
const RESTING: Duration = Duration::from_secs(2);
const MAX_RESTING_CPU: f64 = 0.05;

/// The time in which the memory of a process goes back to at most [`MAX_MEMORY`] times what it was before all attacks, and
/// [`MORE_MIB`].
const TO_FREE: Duration = Duration::from_secs(60);
const MAX_MEMORY: f64 = 1.25;
const MORE_MIB: f64 = 16.0;

/// The service under attack, and what was found.
pub(super) struct Check {
    _cluster: Cluster,
    pub(super) stack: Stack,
    pub(super) innocents: Innocents,
    seconds: u64,
    before: Row,
    pub(super) highest: Row,
    pub(super) failures: Vec<String>,
}

impl Check {
    /// Starts the service, and sends the first innocent requests. Each attack takes so many seconds.
    pub(super) async fn start(seconds: u64) -> Self {
        let cluster = Cluster::own();
        let stack = Stack::with().on(&cluster).set("AKHAR_DATABASE_CONNECTIONS", 20).start().await;
        let innocents = Innocents::new(&stack).await;
        innocents.warm_up().await;
        let before = memory(&stack);
        println!("{}", line("before", &before));
        let highest = [vec![("p99_ms", 0.0)], before.clone()].concat();
        Self { _cluster: cluster, stack, innocents, seconds, before, highest, failures: Vec::new() }
    }

    /// Makes one attack of a kind, with innocent requests beside it, and checks what it leaves behind.
    pub(super) async fn observe<A>(&mut self, kind: &str, name: &str, attack: impl FnOnce(Instant) -> A)
    where
        A: Future<Output = Answers>,
    {
        let Self { stack, innocents, .. } = self;
        let mut quiet = None;
        if kind == STORED {
            quiet = Some(innocents.until(Instant::now() + AFTER).await.row());
        }
        reset_peaks(stack);
        let seconds = if kind == STORED { self.seconds.max(STORED_SECONDS) } else { self.seconds };
        let end = Instant::now() + Duration::from_secs(seconds);
        let (answers, samples) = tokio::join!(attack(end), innocents.until(end));
        let mut row = [samples.row(), memory(stack)].concat();
        if let Some(quiet) = quiet {
            row.push(("times_p50", number(&row, "p50_ms") / number(&quiet, "p50_ms")));
        }
        println!("{}", line(name, &row));
        for (who, row) in [("speech", Some(samples.speech_row())), ("newcomers", samples.newcomers_row())] {
            if let Some(row) = row {
                println!("{}", line(&format!("{name}, {who}"), &row));
            }
        }
        println!("{name}: {answers}");
        let mut failures: Vec<_> =
            answers.failures.iter().map(|failure| format!("{name}: {failure}")).collect();
        if samples.n_bad() > 0 {
            failures
                .push(format!("{name}: answers to innocent requests (0: none): {:?}", samples.statuses()));
        }
        if samples.n_wrong > 0 {
            failures.push(format!("{name}: {} answers to innocent requests were wrong", samples.n_wrong));
        }
        row.push(("speech_p99_ms", number(&samples.speech_row(), "p99_ms")));
        failures.extend(broken_limits(kind, name, &row));
        if BOUNDED.contains(&kind) {
            let row = [innocents.until(Instant::now() + AFTER).await.row(), memory(stack)].concat();
            let name = format!("after {name}");
            println!("{}", line(&name, &row));
            failures.extend(broken_limits(kind, &name, &row));
        }
        if !rests(stack).await {
            failures.push(format!("{name}: jobs were still queued or running {TO_REST:?} after the attack"));
        }
        failures.extend(self.aftermath(name).await);
        self.failures.extend(failures);
        for (column, value) in &mut self.highest {
            *value = value.max(number(&row, column));
        }
    }

    /// What an attack leaves behind that it must not: a process that is still busy, and memory.
    async fn aftermath(&self, name: &str) -> Vec<String> {
        tokio::time::sleep(RESTING).await;
        let processes = [("api", &self.stack.api), ("worker", &self.stack.workers[0])];
        let before = processes.map(|(_, process)| process.cpu());
        tokio::time::sleep(RESTING).await;
        let mut failures = Vec::new();
        for ((process_name, process), before) in processes.into_iter().zip(before) {
            let cpu = process.cpu().saturating_sub(before).div_duration_f64(RESTING);
            if cpu > MAX_RESTING_CPU {
                failures.push(format!("{name}: the {process_name} still used {cpu:.2} of a core"));
            }
        }
        let started = Instant::now();
        let too_much = loop {
            let now = memory(&self.stack);
            let above =
                |column: &&str| number(&now, column) > number(&self.before, column) * MAX_MEMORY + MORE_MIB;
            let too_much: Vec<_> = ["api_mib", "worker_mib"].into_iter().filter(above).collect();
            if too_much.is_empty() || started.elapsed() >= TO_FREE {
                println!(
                    "{}",
                    line(&format!("{name}, {:.0} s later", started.elapsed().as_secs_f64()), &now)
                );
                break too_much;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        };
        let kept = |column| format!("{name}: {column} did not go back within {TO_FREE:?}");
        failures.extend(too_much.into_iter().map(kept));
        failures
    }
}

/// The values beside an attack of this kind that are above its [`LIMITS`].
fn broken_limits(kind: &str, name: &str, row: &Row) -> Vec<String> {
    let limits = LIMITS.iter().filter(|(kinds, ..)| kinds.is_empty() || kinds.contains(&kind));
    let broken = limits.filter(|(_, column, limit)| number(row, column) > *limit);
    broken.map(|(_, column, limit)| format!("{name}: {column} {} > {limit}", number(row, column))).collect()
}

/// The resident memory of the processes, and its peaks since [`reset_peaks`].
fn memory(stack: &Stack) -> Row {
    let (api, api_peak) = stack.api.memory_mib();
    let (worker, worker_peak) = stack.workers[0].memory_mib();
    vec![
        ("api_mib", api),
        ("api_peak_mib", api_peak),
        ("worker_mib", worker),
        ("worker_peak_mib", worker_peak),
    ]
}

fn reset_peaks(stack: &Stack) {
    stack.api.reset_peak();
    stack.workers[0].reset_peak();
}

/// Whether the service finishes or cancels all jobs of an attack in time.
async fn rests(stack: &Stack) -> bool {
    let give_up = Instant::now() + TO_REST;
    while Instant::now() < give_up {
        if n_of(&stack.db, "jobs where state in ('queued', 'running')").await == 0 {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    false
}
