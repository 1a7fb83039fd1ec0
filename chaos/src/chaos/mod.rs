//! Load while faults happen: processes are killed and stopped, connections break, the disk is full, a clock jumps. Both the load and the faults are drawn from a seed. Afterwards a checker compares all answers
//! and the database with a run without faults.

mod cases;
mod checker;
mod disk;
mod faults;
mod hang_up;
mod live;
mod plan;
mod schedule;
mod service;
mod traffic;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use akhar_tests::figures::{count, line, quantiles};
use rand::{SeedableRng as _, rngs::StdRng};
use tokio::time::{Instant, sleep};

use cases::Cases;
use checker::TO_END;
use faults::Suffered;
use live::{Apis, Spoken};
use service::Service;
pub(crate) use service::UploadStore;
use traffic::{Asker, Observed, Record};

/// The time in which the memory of the processes may go back after the load.
const TO_SETTLE: Duration = Duration::from_secs(60);

/// Runs load and faults for some minutes: so many requests a second on average, and so many live sessions at a time. Returns what
/// failed: an accepted request that was lost, ended twice, failed or was answered wrongly, a live session with another text, somebody
/// who waits for ever, an ended job that still has its upload, in its row or in the bucket, and a process that ended by itself.
pub(crate) async fn run(
    seed: u64,
    minutes: u64,
    (rate, n_speakers): (f64, u16),
    store: UploadStore,
) -> Vec<String> {
    let length = Duration::from_secs(60 * minutes);
    let mut rng = StdRng::seed_from_u64(seed);
    let mut service = Service::start(store, n_speakers).await;
    let cases = Cases::ask_undisturbed(&service.stack).await;
    let apis = Apis { bases: service.bases.to_vec(), key: service.stack.key.clone() };
    let said = live::undisturbed(&apis).await;
    let before = memory(&service);
    println!("seed {seed}: {minutes} min, {rate} requests/s, {} different requests", cases.len());
    let plans = plan::draw(&mut rng, rate, length, cases.len());
    let started = Instant::now();
    let asker = Arc::new(Asker::new(&service, cases, started + length + TO_END));
    let end = started + length;
    let live = tokio::spawn(live::speak(apis, n_speakers, said, (end, end + TO_END)));
    let load = tokio::spawn(traffic::send_all(Arc::clone(&asker), plans, started));
    let suffered = Box::pin(faults::happen(&mut service, &mut rng, started + length)).await;
    let records = load.await.expect("the load does not panic");
    let spoken = live.await.expect("the callers do not panic");
    let dead: Vec<i32> = suffered.iter().flat_map(|part| part.dead.iter().copied()).collect();
    let verdict = checker::check(&service, &asker.cases, &records, &dead).await;
    print_faults(&suffered, &service);
    print_answers(&records);
    print_sessions(&spoken);
    print_memory(&service, &before).await;
    println!("{}", line("verdict", &verdict.row()));
    for example in verdict.examples.iter().take(40) {
        println!("  {example}");
    }
    let failures = verdict.failures().into_iter().filter(|(_, n)| *n > 0.0);
    let failures = failures.map(|(name, n)| format!("{name}: {n}"));
    let ended = suffered.iter().filter(|part| part.has_ended);
    let failures = failures.chain(ended.map(|part| format!("{} ended by itself", part.name)));
    failures
        .chain((!spoken.wrong.is_empty()).then(|| format!("wrong live sessions: {}", spoken.wrong.len())))
        .collect()
}

fn print_faults(suffered: &[Suffered], service: &Service) {
    let mut all = 0;
    for part in suffered {
        let faults: Vec<_> = part.faults.iter().map(|(name, n)| (*name, count(*n))).collect();
        println!("{}", line(&format!("faults of {}", part.name), &faults));
        all += part.faults.values().sum::<usize>();
    }
    println!("  {all} faults in all");
    for (fault, why) in service.impossible() {
        println!("  no {fault:?}: {why}");
    }
}

fn print_answers(records: &[Record]) {
    let mut observed: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut refusals: BTreeMap<String, usize> = BTreeMap::new();
    for record in records {
        *observed.entry(record.observed.name()).or_default() += 1;
        if let Observed::Refused { status, slug } = &record.observed {
            *refusals.entry(format!("{status} {slug}")).or_default() += 1;
        }
    }
    let longest = records.iter().map(|record| record.took).max().unwrap_or_default();
    let mut row = vec![("sent", count(records.len())), ("longest_wait_s", longest.as_secs_f64())];
    row.extend(observed.into_iter().map(|(name, n)| (name, count(n))));
    println!("{}", line("requests", &row));
    println!("  refusals by kind: {refusals:?}");
    let mut behaviours: BTreeMap<&'static str, usize> = BTreeMap::new();
    for record in records {
        *behaviours.entry(record.plan.behaviour.name()).or_default() += 1;
    }
    println!("  clients: {behaviours:?}");
    for operation in
        ["digit-recognition", "alphabet-recognition", "handwriting-generator", "speech-recognition"]
    {
        let answered = records.iter().filter(|r| matches!(r.observed, Observed::Answered { .. }));
        let took = answered.filter(|r| r.operation == operation).map(|r| r.took);
        println!("{}", line(operation, &quantiles(took)));
    }
}

fn print_sessions(spoken: &Spoken) {
    let row = [
        ("sessions", count(spoken.n_sessions)),
        ("taken_up_again", count(spoken.n_resumed)),
        ("wrong", count(spoken.wrong.len())),
    ];
    println!("{}", line("live sessions", &row));
    for example in spoken.wrong.iter().take(40) {
        println!("  {example}");
    }
}

/// The resident memory of each process, MiB.
fn memory(service: &Service) -> Vec<f64> {
    service.processes().map(|process| process.memory_mib().0).collect()
}

/// Prints the memory after the load, as soon as it is at most a tenth above `before`.
async fn print_memory(service: &Service, before: &[f64]) {
    let deadline = Instant::now() + TO_SETTLE;
    loop {
        let now = memory(service);
        let is_back = now.iter().zip(before).all(|(now, before)| *now <= before * 1.1);
        if is_back || Instant::now() >= deadline {
            println!("  MiB of each api and worker: {before:.0?} before, {now:.0?} after");
            return;
        }
        sleep(Duration::from_secs(1)).await;
    }
}
