//! Attacks on a running service, one after another, with the requests of an innocent caller beside each of them.
//!
//! The attacker connects from 127.0.0.2 and has keys of its own, or none. The innocent caller connects from
//! 127.0.0.1. An attack succeeds, and the check fails, if an innocent request gets another answer than 200, if jobs are left
//! over, if one of [`BOUNDED`] is noticed more than a little, and if an innocent recording waits for the long ones of
//! [`LONG`].

mod attacker;
mod connections;
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
};

use attacker::{Answers, Attacker};
use innocents::Innocents;

/// The longest time that the service may need, after an attack, until no job is queued or running.
const TO_REST: Duration = Duration::from_secs(60);

/// Everything that an attack can do.
type Attack =
    for<'a> fn(&'a Attacker, Instant) -> std::pin::Pin<Box<dyn Future<Output = Answers> + Send + 'a>>;

/// All attacks with their names.
const ATTACKS: [(&str, Attack); 19] = [
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
    ("wrong-keys", |a, end| Box::pin(requests::wrong_keys(a, end))),
    ("deep-json", |a, end| Box::pin(requests::deep_json(a, end))),
    ("long-texts", |a, end| Box::pin(requests::long_texts(a, end))),
];

/// Attacks whose work is as small as their requests: during one and in the [`AFTER`] that follow, the values stay below
/// [`LIMITS`], and then the api rests.
const BOUNDED: [&str; 2] = ["endless-heads", "small-chunks"];

/// The attack with recordings that keep a worker busy for hours. An innocent recording of 2.5 s is transcribed within
/// [`MAX_SPEECH_P99_MS`] during it.
const LONG: &str = "long-recordings";
const MAX_SPEECH_P99_MS: f64 = 3000.0;

/// How long the innocent caller is observed after such an attack.
const AFTER: Duration = Duration::from_secs(10);

/// The greatest values.
const LIMITS: [(&str, f64); 3] = [("p50_ms", 30.0), ("p99_ms", 300.0), ("api_peak_mib", 300.0)];

/// The time in which a resting api uses [`MAX_RESTING_CPU`] of a core at most.
const RESTING: Duration = Duration::from_secs(2);
const MAX_RESTING_CPU: f64 = 0.05;

/// Runs all attacks, or the one with the name `only`, for `seconds` each. Then waits for `rest` seconds and
/// prints the memory beside that before the attacks. Returns what failed.
pub(crate) async fn run(only: Option<&str>, seconds: u64, rest: u64) -> Vec<String> {
    akhar_platform::open_files::raise_limit();
    let cluster = Cluster::own();
    let stack = Stack::with().on(&cluster).set("AKHAR_DATABASE_CONNECTIONS", 20).start().await;
    let innocents = Innocents::new(&stack).await;
    innocents.warm_up().await;
    println!("{}", line("before", &memory(&stack)));
    let mut failures = Vec::new();
    let mut highest = vec![("p99_ms", 0.0)];
    highest.extend(memory(&stack));
    let chosen = ATTACKS.iter().filter(|(name, _)| only.is_none_or(|o| o == *name));
    for (name, attack) in chosen {
        reset_peaks(&stack);
        let attacker = Attacker::new(&stack, name).await;
        let end = Instant::now() + Duration::from_secs(seconds);
        let (answers, samples) = tokio::join!(attack(&attacker, end), innocents.until(end));
        drop(attacker);
        let row = [samples.row(), memory(&stack)].concat();
        println!("{}", line(name, &row));
        println!("{}", line(&format!("{name}, speech"), &samples.speech_row()));
        println!("{name}: {answers}");
        if samples.n_bad() > 0 {
            failures
                .push(format!("{name}: answers to innocent requests (0: none): {:?}", samples.statuses()));
        }
        let speech_p99_ms = number(&samples.speech_row(), "p99_ms");
        if *name == LONG && speech_p99_ms > MAX_SPEECH_P99_MS {
            failures.push(format!("{name}, speech: p99_ms {speech_p99_ms} > {MAX_SPEECH_P99_MS}"));
        }
        if BOUNDED.contains(name) {
            failures.extend(broken_limits(name, &row));
            failures.extend(aftermath(name, &stack, &innocents).await);
        }
        if !rests(&stack).await {
            failures.push(format!("{name}: jobs were still queued or running {TO_REST:?} after the attack"));
        }
        for (column, value) in &mut highest {
            *value = value.max(number(&row, column));
        }
    }
    println!("{}", line("the highest of all attacks", &highest));
    tokio::time::sleep(Duration::from_secs(rest)).await;
    println!("{}", line(&format!("{rest} s after the attacks"), &memory(&stack)));
    failures
}

/// What a bounded attack leaves behind that breaks a limit.
async fn aftermath(name: &str, stack: &Stack, innocents: &Innocents) -> Vec<String> {
    let name = format!("after {name}");
    let row = innocents.until(Instant::now() + AFTER).await.row();
    let before = stack.api.cpu();
    tokio::time::sleep(RESTING).await;
    let cpu = stack.api.cpu().saturating_sub(before).div_duration_f64(RESTING);
    let row = [row, memory(stack), vec![("api_cpu", cpu)]].concat();
    println!("{}", line(&name, &row));
    let mut failures = broken_limits(&name, &row);
    if cpu > MAX_RESTING_CPU {
        failures.push(format!("{name}: the api used {cpu} of a core"));
    }
    failures
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
