//! Attacks on a running service, one after another, with the requests of an innocent caller beside each of them.
//!
//! The attacker connects from 127.0.0.2 and has keys of its own, or none. The innocent caller connects from
//! 127.0.0.1. An attack fails the measurement if an innocent request gets another answer than 200, and if a
//! process of the service ends.

mod attacker;
mod connections;
mod innocents;
mod memory;
mod pictures;
mod recordings;
mod requests;

use std::time::{Duration, Instant};

use akhar_tests::{Cluster, Stack};

use crate::report::{Figure, Report};
use attacker::{Attacker, Outcome};
use innocents::Innocents;
use memory::{Peaks, reset_peaks};

/// The longest time that the service may need, after an attack, until no job is queued or running.
const TO_REST: Duration = Duration::from_secs(60);

/// Everything that an attack can do.
type Attack =
    for<'a> fn(&'a Attacker, Instant) -> std::pin::Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// All attacks with their names.
const ATTACKS: [(&str, Attack); 15] = [
    ("picture-bombs", |a, end| Box::pin(pictures::bombs(a, end))),
    ("damaged-pictures", |a, end| Box::pin(pictures::damaged(a, end))),
    ("uploads", |a, end| Box::pin(recordings::uploads(a, end))),
    ("one-account", |a, end| Box::pin(recordings::one_account(a, end))),
    ("hang-ups", |a, end| Box::pin(recordings::hang_ups(a, end))),
    ("broken-recordings", |a, end| Box::pin(recordings::broken(a, end))),
    ("never-read", |a, end| Box::pin(connections::never_read(a, end))),
    ("large-heads", |a, end| Box::pin(connections::large_heads(a, end))),
    ("slow-heads", |a, end| Box::pin(connections::slow_heads(a, end))),
    ("slow-bodies", |a, end| Box::pin(connections::slow_bodies(a, end))),
    ("idle-connections", |a, end| Box::pin(connections::idle(a, end))),
    ("malformed-requests", |a, end| Box::pin(connections::malformed(a, end))),
    ("wrong-keys", |a, end| Box::pin(requests::wrong_keys(a, end))),
    ("deep-json", |a, end| Box::pin(requests::deep_json(a, end))),
    ("long-texts", |a, end| Box::pin(requests::long_texts(a, end))),
];

/// Runs all attacks, or the one with the name `only`, for `seconds` each. Then waits for `rest` seconds and
/// compares the memory with that before the attacks.
pub(crate) async fn run(only: Option<&str>, seconds: u64, rest: u64) -> Report {
    akhar_platform::open_files::raise_limit();
    let cluster = Cluster::own();
    let stack = Stack::with().on(&cluster).set("AKHAR_DATABASE_CONNECTIONS", 20).start().await;
    let innocents = Innocents::new(&stack).await;
    innocents.warm_up().await;
    let before = Peaks::now(&stack);
    let mut report =
        Report::new("attack", format!("{seconds} s of each attack; innocent requests beside it"));
    report.row("before", before.row());
    let (mut slowest, mut highest) = (Duration::ZERO, Peaks::default());
    let chosen = ATTACKS.iter().filter(|(name, _)| only.is_none_or(|o| o == *name));
    for (name, attack) in chosen {
        reset_peaks(&stack);
        let attacker = Attacker::new(&stack, name).await;
        let end = Instant::now() + Duration::from_secs(seconds);
        let (outcome, seen) = tokio::join!(attack(&attacker, end), innocents.until(end));
        drop(attacker);
        let peaks = Peaks::now(&stack);
        let mut row = seen.row();
        row.extend(peaks.row());
        report.row(name, row);
        report.row(&format!("{name}, speech"), seen.speech_row());
        println!("{name}: {outcome}");
        if seen.n_bad() > 0 {
            report.fail(format!("{name}: {} innocent requests were not answered with 200", seen.n_bad()));
        }
        if !rests(&stack).await {
            report.fail(format!("{name}: jobs were still queued or running {TO_REST:?} after the attack"));
        }
        slowest = slowest.max(seen.p99());
        highest = highest.max(peaks);
    }
    tokio::time::sleep(Duration::from_secs(rest)).await;
    reset_peaks(&stack);
    let after = Peaks::now(&stack);
    report.row("a minute after the attacks", after.row());
    for figure in figures(slowest, &before, &highest, &after) {
        report.figure(figure);
    }
    report
}

fn figures(slowest: Duration, before: &Peaks, highest: &Peaks, after: &Peaks) -> Vec<Figure> {
    let figure =
        |what: &str, unit, ours, other, reach| Figure { what: what.to_owned(), unit, ours, other, reach };
    vec![
        figure(
            "attacks: highest p99 of innocent requests",
            "ms",
            slowest.as_secs_f64() * 1e3,
            None,
            "≤ 1000",
        ),
        figure("attacks: api's peak", "MiB", highest.api_peak, None, "≤ 400"),
        figure("attacks: worker's peak", "MiB", highest.worker_peak, None, "≤ 600"),
        figure("attacks: api a minute later", "MiB", after.api, Some(before.api), "≤ 1.1 ×"),
        figure("attacks: worker a minute later", "MiB", after.worker, Some(before.worker), "≤ 1.1 ×"),
    ]
}

/// Whether the service finishes or cancels all jobs of an attack in time.
async fn rests(stack: &Stack) -> bool {
    let unfinished = "select count(*) from jobs where state in ('queued', 'running')";
    let give_up = Instant::now() + TO_REST;
    while Instant::now() < give_up {
        let n: i64 = sqlx::query_scalar(unfinished).fetch_one(&stack.db).await.expect(unfinished);
        if n == 0 {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    false
}
