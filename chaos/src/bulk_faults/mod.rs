//! `akhar transcribe` over thousands of recordings while a worker is killed again and again, Postgres is restarted, and
//! the command itself is killed, interrupted and resumed. Other callers use the service meanwhile. Afterwards the results
//! and the database are counted.

mod clips;
mod verdict;

use std::time::{Duration, Instant};

use akhar_platform::database::Pool;
use akhar_tests::{
    Cluster, Form, Process, Stack,
    bulk::Folders,
    ends::record_ends,
    figures::{Row, count, line, quantiles, response_times},
    images::fixture_of,
    load::{Load, Sample, n_good},
    speech,
};
use rustix::process::Signal;
use tokio::time::{MissedTickBehavior, interval, sleep};

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
/// The time between two digits.
const DIGIT_INTERVAL: Duration = Duration::from_secs(1);
/// The time between two recordings of the other account.
const CLIP_INTERVAL: Duration = Duration::from_secs(15);

/// What happens to the run, each once, when this share of the recordings is done.
const EVENTS: [(f64, Event); 3] =
    [(0.25, Event::KillCommand), (0.5, Event::RestartPostgres), (0.75, Event::InterruptCommand)];

#[derive(Debug, Clone, Copy)]
enum Event {
    KillCommand,
    RestartPostgres,
    InterruptCommand,
}

/// Transcribes `n` files drawn from `seed`. Returns what failed.
pub(crate) async fn run(n: usize, seed: u64) -> Vec<String> {
    let cluster = Cluster::own();
    let folders = Folders::new(cluster.folder(), "bulk-faults");
    let clips = Clips::write(&folders.recordings, n, seed);
    println!("{n} files, seed {seed}: {clips}");
    let mut stack = Stack::with().on(&cluster).workers(2).start().await;
    record_ends(&stack.db).await;
    let picture = fixture_of("੫");
    let digit = stack.post(picture.operation, &Form::upload(&picture.bytes));
    let digits = Load::measure_every(&digit, DIGIT_INTERVAL);
    sleep(IDLE).await;
    print_digits("digits, idle", &digits.stop().await);

    let other = stack.keys(&["create", "--name", OTHER]).await;
    let clip = Form::upload(&speech::recording("pa-school.wav").bytes);
    let clip = stack.post_as(&other, "speech-recognition", &clip).header("prefer", "respond-async");
    let digits = Load::measure_every(&digit, DIGIT_INTERVAL);
    let recordings = Load::measure_every(&clip, CLIP_INTERVAL);
    let started = Instant::now();
    let n_kills = transcribe(&mut stack, &cluster, &folders, n).await;
    let run = vec![("seconds", started.elapsed().as_secs_f64()), ("kills_of_a_worker", count(n_kills))];
    println!("{}", line("run", &run));
    let busy = digits.stop().await;
    recordings.stop().await;
    print_digits("digits, beside the run", &busy);
    let work = quantiles(busy.iter().filter_map(|sample| sample.work));
    println!("{}", line("digits, beside the run: decoding and inference only", &work));
    println!("{}", line("another caller's recordings, until they start", &waits(&stack.db).await));
    let verdict = Verdict::count(&stack, &folders, &clips).await;
    println!("{}", line("verdict", &verdict.row()));
    verdict.failures()
}

fn print_digits(name: &str, samples: &[Sample]) {
    let bad = vec![("bad", count(samples.len() - n_good(samples)))];
    println!("{}", line(name, &[response_times(samples), bad].concat()));
}

/// Runs the command until it has ended by itself, and disturbs everything meanwhile. Returns how often a worker was
/// killed.
async fn transcribe(stack: &mut Stack, cluster: &Cluster, folders: &Folders, n: usize) -> usize {
    let mut command = Process::spawn("transcribe", folders.command(stack, &["--resume"]));
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
                stack.workers[0].restart(Signal::KILL).await;
                n_kills += 1;
            }
            _ = looks.tick() => {
                let done = count(folders.n_done()) / count(n);
                let Some((_, event)) = events.next_if(|(share, _)| done >= *share) else { continue };
                println!("{event:?} at {} of {n}", folders.n_done());
                match event {
                    Event::KillCommand => drop(command.start_again(Signal::KILL).await),
                    Event::InterruptCommand => drop(command.start_again(Signal::INT).await),
                    Event::RestartPostgres => {
                        cluster.stop(Signal::INT).await;
                        cluster.start_again().await;
                    }
                }
            }
        }
    }
}

/// How long each job of the other account waited for its first start.
async fn waits(db: &Pool) -> Row {
    let statement = "select extract(epoch from min(s.at) - j.created_at)::float8
        from jobs j join starts s on s.job_id = j.id
        where j.account_id = (select id from accounts where name = $1) group by j.id, j.created_at";
    let waits: Vec<f64> = sqlx::query_scalar(statement).bind(OTHER).fetch_all(db).await.expect("the waits");
    quantiles(waits.into_iter().map(|s| Duration::from_secs_f64(s.max(0.0))))
}
