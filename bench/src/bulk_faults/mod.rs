//! `akhar transcribe` over thousands of recordings while a worker is killed again and again, Postgres is restarted, and
//! the command itself is killed, interrupted and resumed. Other callers use the service meanwhile. Afterwards the results
//! and the database are counted.

mod beside;
mod clips;
mod verdict;

use std::time::{Duration, Instant};

use akhar_tests::{Cluster, Process, Stack, bulk::Folders};
use rustix::process::Signal;
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::{
    clients::Sample,
    report::{Figure, Report, count, number, quantiles},
};
use beside::Caller;
use clips::Clips;
use verdict::Verdict;

/// The time between two kills of a worker.
const KILL_INTERVAL: Duration = Duration::from_secs(20);
/// How often the journal is read.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// The time in which digits are measured before the run.
const IDLE: Duration = Duration::from_secs(60);
/// The name of the account that submits a recording now and then.
const OTHER: &str = "another caller";

/// Records when jobs start and end.
const RECORD: &str =
    "create table starts (job_id uuid not null, at timestamptz not null default clock_timestamp());
    create table ends (job_id uuid not null);
    create function record_start() returns trigger language plpgsql as
    $$ begin insert into starts values (new.id); return null; end $$;
    create function record_end() returns trigger language plpgsql as
    $$ begin insert into ends values (new.id); return null; end $$;
    create trigger record_start after update of state on jobs for each row
    when (new.state = 'running') execute function record_start();
    create trigger record_end after update of state on jobs for each row
    when (new.state in ('succeeded', 'failed', 'cancelled')) execute function record_end();";

/// What happens to the run, each once, when this share of the recordings is done.
const EVENTS: [(f64, Event); 3] =
    [(0.25, Event::KillCommand), (0.5, Event::RestartPostgres), (0.75, Event::InterruptCommand)];

#[derive(Debug, Clone, Copy)]
enum Event {
    KillCommand,
    RestartPostgres,
    InterruptCommand,
}

/// Transcribes `n` files drawn from `seed`.
pub(crate) async fn run(n: usize, seed: u64) -> Report {
    let cluster = Cluster::own();
    let folders = Folders::new(cluster.folder(), "bulk-faults");
    let clips = Clips::write(&folders.recordings, n, seed);
    let hours = count(clips.audio_s) / 3600.0;
    println!(
        "{n} files, {hours:.2} h of sound: {} sentences, {} copies, {} recordings of 20 minutes, {} broken files",
        clips.n_short,
        clips.n_copies,
        clips.n_long,
        clips.broken.len()
    );
    let mut stack = Stack::with().on(&cluster).workers(2).start().await;
    sqlx::raw_sql(RECORD).execute(&stack.db).await.expect("tables for the record");
    let other = stack.keys(&["create", "--name", OTHER]).await;
    let digits = Caller::of_digits(&stack);
    sleep(IDLE).await;
    let idle = digits.stop().await;

    let (digits, recordings) = (Caller::of_digits(&stack), Caller::of_clips(&stack, &other));
    let started = Instant::now();
    let n_kills = transcribe(&mut stack, &cluster, &folders, n).await;
    let took = started.elapsed();
    let busy = digits.stop().await;
    recordings.stop().await;
    let waits = beside::waits(&stack.db, OTHER).await;
    let verdict = Verdict::count(&stack, &folders, &clips).await;

    let about =
        format!("{n} files with {hours:.2} h of sound, seed {seed}, two workers, one of which is killed");
    let mut report = Report::new("bulk-faults", about);
    report.row("run", vec![("seconds", took.as_secs_f64()), ("kills_of_a_worker", count(n_kills))]);
    report.row("verdict", verdict.numbers());
    add_callers(&mut report, &idle, &busy, &waits);
    if let Some(why) = verdict.failure() {
        report.fail(why);
    }
    report
}

/// Runs the command until it has ended by itself, and disturbs everything meanwhile. Returns how often a worker was
/// killed.
async fn transcribe(stack: &mut Stack, cluster: &Cluster, folders: &Folders, n: usize) -> usize {
    let start = |stack: &Stack| Process::spawn("transcribe", folders.command(stack, &["--resume"]));
    let mut command = start(stack);
    let (mut looks, mut kills) = (interval(LOOK_INTERVAL), interval(KILL_INTERVAL));
    for ticks in [&mut looks, &mut kills] {
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
    }
    let mut events = EVENTS.into_iter().peekable();
    let mut n_kills = 0;
    loop {
        tokio::select! {
            status = command.ended() => {
                println!("the command ended with {status}: {:?}", command.lines().last());
                return n_kills;
            }
            _ = kills.tick() => {
                stack.workers[0].kill().await;
                stack.add_worker().await;
                stack.workers.swap_remove(0);
                n_kills += 1;
            }
            _ = looks.tick() => {
                let done = count(folders.n_done()) / count(n);
                let Some((_, event)) = events.next_if(|(share, _)| done >= *share) else { continue };
                println!("{event:?} at {} of {n}", folders.n_done());
                match event {
                    Event::KillCommand => {
                        command.kill().await;
                        command = start(stack);
                    }
                    Event::InterruptCommand => {
                        command.signal(Signal::INT);
                        command.ended().await;
                        command = start(stack);
                    }
                    Event::RestartPostgres => {
                        cluster.stop(Signal::INT).await;
                        cluster.start_again().await;
                    }
                }
            }
        }
    }
}

fn add_callers(report: &mut Report, idle: &[Sample], busy: &[Sample], waits: &[Duration]) {
    let row = |samples: &[Sample]| {
        let mut row = quantiles(&samples.iter().map(|s| s.took).collect::<Vec<_>>());
        row.push(("bad", count(samples.iter().filter(|s| s.status != Some(200)).count())));
        row
    };
    let work = quantiles(&busy.iter().filter_map(|sample| sample.work).collect::<Vec<_>>());
    let [idle, busy, waits] = [row(idle), row(busy), quantiles(waits)];
    report.figure(Figure {
        what: "a digit every second, p99 beside bulk transcription and faults".to_owned(),
        unit: "ms",
        ours: number(&busy, "p99_ms"),
        other: Some(number(&idle, "p99_ms")),
        reach: "≤ 2 ×",
    });
    report.figure(Figure {
        what: "another caller's recording, until it starts, longest".to_owned(),
        unit: "ms",
        ours: number(&waits, "max_ms"),
        other: None,
        reach: "≤ 5000",
    });
    report.row("digits, idle", idle);
    report.row("digits, beside the run", busy);
    report.row("digits, beside the run: decoding and inference only", work);
    report.row("another caller's recordings", waits);
}
