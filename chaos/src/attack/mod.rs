//! Attacks on a running service, one after another, with the requests of an innocent caller beside each of them.
//!
//! The attacker connects from 127.0.0.2 and has keys of its own, or none. The innocent caller connects from
//! 127.0.0.1. An attack succeeds, and the check fails, if an innocent request gets another answer than 200, if jobs are left
//! over, if the service does not rest soon afterwards or keeps memory, if one of [`BOUNDED`] is noticed more than a little,
//! and if an innocent recording waits for the long ones of [`LONG`]. Attacks without a name are drawn from a seed ([`drawn`]).

mod attacker;
mod connections;
mod drawn;
mod forms;
mod innocents;
mod pictures;
mod recordings;
mod requests;

use std::time::{Duration, Instant};

use akhar_tests::{
    Cluster, Stack,
    ends::n_of,
    figures::{Row, line, number},
    load_balancer::Program,
};

use rand::{SeedableRng as _, rngs::StdRng};

use attacker::{Answers, Attacker};
use drawn::{Account, Drawn};
use innocents::Innocents;

/// The longest time that the service may need, after an attack, until no job is queued or running.
const TO_REST: Duration = Duration::from_secs(60);

/// Everything that an attack can do.
type Attack =
    for<'a> fn(&'a Attacker, Instant) -> std::pin::Pin<Box<dyn Future<Output = Answers> + Send + 'a>>;

/// All attacks with their names.
const ATTACKS: [(&str, Attack); 20] = [
    ("newcomers", |a, end| Box::pin(pictures::newcomers(a, end))),
    ("picture-bombs", |a, end| Box::pin(pictures::bombs(a, end))),
    ("damaged-pictures", |a, end| Box::pin(pictures::damaged(a, end))),
    ("uploads", |a, end| Box::pin(recordings::uploads(a, end))),
    ("one-account", |a, end| Box::pin(recordings::one_account(a, end))),
    ("long-recordings", |a, end| Box::pin(recordings::long(a, end))),
    ("hang-ups", |a, end| Box::pin(recordings::hang_ups(a, end))),
    ("broken-recordings", |a, end| Box::pin(recordings::broken(a, end))),
    ("never-read", |a, end| Box::pin(connections::never_read(a, end))),
    ("large-heads", |a, end| Box::pin(connections::large_heads(a, end))),
    ("slow-heads", |a, end| Box::pin(connections::slow_heads(a, end))),
    ("slow-bodies", |a, end| Box::pin(connections::slow_bodies(a, end))),
    ("idle-connections", |a, end| Box::pin(connections::idle(a, end))),
    ("endless-heads", |a, end| Box::pin(forms::endless_heads(a, end))),
    ("small-chunks", |a, end| Box::pin(forms::small_chunks(a, end))),
    ("malformed-requests", |a, end| Box::pin(connections::malformed(a, end))),
    ("hang-ups-anywhere", |a, end| Box::pin(requests::hang_ups(a, end))),
    ("wrong-keys", |a, end| Box::pin(requests::wrong_keys(a, end))),
    ("deep-json", |a, end| Box::pin(requests::deep_json(a, end))),
    ("long-texts", |a, end| Box::pin(requests::long_texts(a, end))),
];

/// Attacks whose work is as small as their requests: during one and in the [`AFTER`] that follow, the values stay below
/// [`LIMITS`].
const BOUNDED: [&str; 3] = ["endless-heads", "small-chunks", "hang-ups-anywhere"];

/// The attack with recordings that keep a worker busy for hours. An innocent recording of 2.5 s is transcribed within
/// [`MAX_SPEECH_P99_MS`] during it.
const LONG: &str = "long-recordings";
const MAX_SPEECH_P99_MS: f64 = 3000.0;

/// The attack behind the load balancers of `deploy/`: what the attacker is refused must not make them take the apis for away.
const REFUSALS: &str = "refusals";

/// The name that stands for all attacks that are drawn.
const DRAWN: &str = "drawn";

/// How long the innocent caller is observed after a bounded attack.
const AFTER: Duration = Duration::from_secs(10);

/// The greatest values.
const LIMITS: [(&str, f64); 3] = [("p50_ms", 30.0), ("p99_ms", 300.0), ("api_peak_mib", 300.0)];

/// The time after which a service without jobs rests: then, in as much time again, each process uses
/// [`MAX_RESTING_CPU`] of a core at most.
const RESTING: Duration = Duration::from_secs(2);
const MAX_RESTING_CPU: f64 = 0.05;

/// The time in which the memory of a process goes back to at most [`MAX_MEMORY`] times what it was before all attacks, and
/// [`MORE_MIB`].
const TO_FREE: Duration = Duration::from_secs(60);
const MAX_MEMORY: f64 = 1.25;
const MORE_MIB: f64 = 16.0;

/// Requests of the account that has used the service before the attacks.
const N_HISTORY: usize = 200;

/// Which attacks are made.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Options {
    /// The name of one attack, `refusals` (behind nginx and `HAProxy`) or `drawn`; without it, all
    #[arg(long)]
    only: Option<String>,
    /// Seconds of each attack
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Draws the attacks without a name
    #[arg(long, default_value_t = 11)]
    seed: u64,
    /// How many are drawn
    #[arg(long, default_value_t = 10)]
    rounds: usize,
}

/// The service under attack, and what was found.
struct Check {
    _cluster: Cluster,
    stack: Stack,
    innocents: Innocents,
    seconds: u64,
    before: Row,
    highest: Row,
    failures: Vec<String>,
}

/// Makes the attacks. Returns what failed.
pub(crate) async fn run(options: Options) -> Vec<String> {
    akhar_platform::open_files::raise_limit();
    let mut check = Check::start(options.seconds).await;
    let chosen = |name: &str| options.only.as_deref().is_none_or(|only| only == name);
    for (name, attack) in ATTACKS.iter().filter(|(name, _)| chosen(name)) {
        let attacker = Attacker::new(&check.stack, name).await;
        check.observe(name, |end| attack(&attacker, end)).await;
    }
    if chosen(REFUSALS) {
        check.refusals().await;
    }
    if chosen(DRAWN) {
        let old = Attacker::new(&check.stack, "old").await;
        old.use_service(N_HISTORY).await;
        let mut rng = StdRng::seed_from_u64(options.seed);
        for nth in 0..options.rounds {
            let drawn = Drawn::draw(&mut rng);
            let name = format!("attack {nth} of seed {}", options.seed);
            println!("{name}: {drawn}");
            let new = Attacker::new(&check.stack, &name).await;
            let attacker = if drawn.account == Account::Old { &old } else { &new };
            check.observe(&name, |end| drawn.attack(attacker, end)).await;
        }
    }
    println!("{}", line("the highest of all attacks", &check.highest));
    check.failures
}

impl Check {
    async fn start(seconds: u64) -> Self {
        let cluster = Cluster::own();
        let stack = Stack::with().on(&cluster).set("AKHAR_DATABASE_CONNECTIONS", 20).start().await;
        let innocents = Innocents::new(&stack).await;
        innocents.warm_up().await;
        let before = memory(&stack);
        println!("{}", line("before", &before));
        let highest = [vec![("p99_ms", 0.0)], before.clone()].concat();
        Self { _cluster: cluster, stack, innocents, seconds, before, highest, failures: Vec::new() }
    }

    /// Makes the attack [`REFUSALS`], in which all requests go through a load balancer to two apis.
    async fn refusals(&mut self) {
        let (_second, second) = self.stack.start_api().await;
        let first = self.stack.base.clone();
        for program in Program::ALL {
            let balancer = program.start(self.stack.folder(), [&first, &second]).await;
            let name = format!("{REFUSALS}, {program:?}");
            let attacker = Attacker::new(&self.stack, &name).await;
            self.stack.base.clone_from(&balancer.base);
            let innocents = Innocents::new(&self.stack).await;
            let direct = std::mem::replace(&mut self.innocents, innocents);
            self.observe(&name, |end| recordings::refusals(&attacker, &balancer.base, end)).await;
            self.innocents = direct;
            self.stack.base.clone_from(&first);
        }
    }

    /// Makes one attack, with innocent requests beside it, and checks what it leaves behind.
    async fn observe<A>(&mut self, name: &str, attack: impl FnOnce(Instant) -> A)
    where
        A: Future<Output = Answers>,
    {
        let Self { stack, innocents, .. } = self;
        reset_peaks(stack);
        let end = Instant::now() + Duration::from_secs(self.seconds);
        let (answers, samples) = tokio::join!(attack(end), innocents.until(end));
        let row = [samples.row(), memory(stack)].concat();
        println!("{}", line(name, &row));
        println!("{}", line(&format!("{name}, speech"), &samples.speech_row()));
        println!("{name}: {answers}");
        let mut failures = Vec::new();
        if samples.n_bad() > 0 {
            failures
                .push(format!("{name}: answers to innocent requests (0: none): {:?}", samples.statuses()));
        }
        let speech_p99_ms = number(&samples.speech_row(), "p99_ms");
        if name == LONG && speech_p99_ms > MAX_SPEECH_P99_MS {
            failures.push(format!("{name}, speech: p99_ms {speech_p99_ms} > {MAX_SPEECH_P99_MS}"));
        }
        if BOUNDED.contains(&name) {
            failures.extend(broken_limits(name, &row));
            let row = [innocents.until(Instant::now() + AFTER).await.row(), memory(stack)].concat();
            let name = format!("after {name}");
            println!("{}", line(&name, &row));
            failures.extend(broken_limits(&name, &row));
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

fn broken_limits(name: &str, row: &Row) -> Vec<String> {
    let broken = LIMITS.iter().filter(|(column, limit)| number(row, column) > *limit);
    broken.map(|(column, limit)| format!("{name}: {column} {} > {limit}", number(row, column))).collect()
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
