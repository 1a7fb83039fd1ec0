//! Load while faults happen: processes are killed and stopped, connections break, the disk is full, a clock jumps. Both
//! the load and the faults are drawn from a seed. Afterwards a checker compares all answers and the database with a run
//! without faults.

mod cases;
mod checker;
mod disk;
mod endings;
mod faults;
mod proxy;
mod schedule;
mod service;
mod slow;
mod traffic;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use rand::{SeedableRng as _, rngs::StdRng};
use tokio::time::{Instant, sleep};

use crate::{
    load::memory_mib,
    report::{Figure, Report, count, quantiles},
};
use cases::Cases;
use checker::Verdict;
use endings::{Ending, Record};
use service::Service;
pub(crate) use service::UploadStore;
use traffic::Asker;

/// The time after the load in which every job must end and every caller must have its answer.
const TO_END: Duration = Duration::from_secs(120);

/// The time in which the memory of the processes may go back after the load.
const TO_SETTLE: Duration = Duration::from_secs(60);

/// Runs load and faults for some minutes, `rate` requests a second on average. The report fails if an accepted request
/// was lost, ended twice, failed or was answered wrongly, if somebody waits for ever, or if an ended job still has its
/// upload, in its row or in the bucket.
pub(crate) async fn run(seed: u64, minutes: u64, rate: f64, store: UploadStore) -> Report {
    let length = Duration::from_secs(60 * minutes);
    let mut rng = StdRng::seed_from_u64(seed);
    let mut service = Service::start(store).await;
    let cases = Cases::ask_undisturbed(&service).await;
    let before = memory(&service);
    println!("seed {seed}: {minutes} min, {rate} requests/s, {} different requests", cases.len());
    let schedule = schedule::draw(&mut rng, &service.impossible());
    let plans = traffic::draw(&mut rng, rate, length, cases.len());
    let started = Instant::now();
    let asker = Arc::new(Asker::new(&service, cases, started + length + TO_END));
    let load = tokio::spawn(traffic::send_all(Arc::clone(&asker), plans, started));
    let mut happened = faults::happen(&mut service, schedule, started + length).await;
    let records = load.await.expect("the load does not panic");
    for record in &records {
        if let Some(name) = record.plan.manner.fault() {
            *happened.entry(name).or_default() += 1;
        }
    }
    let verdict = checker::check(&service, &asker.cases, &records).await;
    let settled = settle(&service, &before).await;
    let place = if store == UploadStore::S3 { "in a bucket" } else { "in the database" };
    let about = format!(
        "seed {seed}, {minutes} min, {rate} requests/s on average, two workers and one api, uploads {place}"
    );
    let mut report = Report::new("chaos", about);
    report.row("faults", happened.iter().map(|(name, n)| (*name, count(*n))).collect());
    for (name, why) in service.impossible() {
        println!("  no fault {name}: {why}");
    }
    add_answers(&mut report, &records);
    for (name, now) in settled {
        let of = |m: &Memory| m.iter().find(|(n, _)| *n == name).map_or(f64::NAN, |(_, mib)| *mib);
        report.row(&format!("memory, {name}"), vec![("before_mib", of(&before)), ("after_mib", now)]);
    }
    add_verdict(&mut report, &verdict, &records);
    report
}

fn add_answers(report: &mut Report, records: &[Record]) {
    let mut endings: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut refusals: BTreeMap<String, usize> = BTreeMap::new();
    for record in records {
        *endings.entry(record.ending.name()).or_default() += 1;
        if let Ending::Refused { status, slug } = &record.ending {
            *refusals.entry(format!("{status} {slug}")).or_default() += 1;
        }
    }
    let mut row = vec![("sent", count(records.len()))];
    row.extend(endings.into_iter().map(|(name, n)| (name, count(n))));
    report.row("requests", row);
    println!("  refusals by kind: {refusals:?}");
    let took = |operation: &str| -> Vec<Duration> {
        let answered = records.iter().filter(|r| matches!(r.ending, Ending::Answered { .. }));
        answered.filter(|r| r.operation == operation).map(|r| r.took).collect()
    };
    for operation in
        ["digit-recognition", "alphabet-recognition", "handwriting-generator", "speech-recognition"]
    {
        report.row(operation, quantiles(&took(operation)));
    }
}

fn add_verdict(report: &mut Report, verdict: &Verdict, records: &[Record]) {
    let longest = records.iter().map(|record| record.took).max().unwrap_or_default();
    report.row("verdict", verdict.numbers());
    for (what, n) in verdict.failures() {
        let what = format!("faults: {what}");
        report.figure(Figure { what, unit: "requests", ours: count(n), other: None, reach: "0" });
    }
    let ours = longest.as_secs_f64() * 1e3;
    let what = "faults: longest wait".to_owned();
    report.figure(Figure { what, unit: "ms", ours, other: None, reach: "stated" });
    for example in verdict.examples.iter().take(40) {
        println!("  {example}");
    }
    if verdict.failures().iter().any(|(_, n)| *n > 0) {
        report.fail(format!("faults: {:?}", verdict.failures()));
    }
}

/// The resident memory of each process, MiB.
type Memory = Vec<(String, f64)>;

fn memory(service: &Service) -> Memory {
    let workers =
        service.workers.iter().enumerate().map(|(i, worker)| (format!("worker {i}"), memory_mib(worker).0));
    std::iter::once(("api".to_owned(), memory_mib(&service.api).0)).chain(workers).collect()
}

/// The memory after the load, as soon as it is at most a tenth above `before`.
async fn settle(service: &Service, before: &Memory) -> Memory {
    let deadline = Instant::now() + TO_SETTLE;
    loop {
        let now = memory(service);
        let is_back = now.iter().zip(before).all(|((_, now), (_, before))| *now <= before * 1.1);
        if is_back || Instant::now() >= deadline {
            return now;
        }
        sleep(Duration::from_secs(1)).await;
    }
}
