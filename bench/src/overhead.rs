//! Queue overhead: the product and a hand-written queue take turns in one run on one Postgres.
//!
//! Both have an HTTP front end and a worker process, and run the same decoding and the same model. The
//! hand-written queue makes one durable commit when a job is queued and one when it ends; the product does
//! not wait for a flush while its caller waits. Overhead is the client's response time without the decoding
//! and inference in the answer's `Server-Timing`. The hand-written queue has no keys, no forms, no limit, no
//! further attempts and no recovery of lost jobs. It is a lower bound, not a program of the same kind.

use std::time::{Duration, Instant};

use akhar_tests::{
    Cluster,
    figures::{Row, number, quantiles, response_times},
    images::fixture_of,
    load::{Sample, n_good, open_loop},
};

use crate::{
    hand_written::Service,
    load::{warm_stack, warm_up},
    machine::Machine,
    report::Report,
    targets,
};

/// The length of one turn. Turns are short, so that a disturbance of the machine affects both queues.
const TURN: Duration = Duration::from_secs(5);

/// Measures both queues in turns, each for `seconds` in all.
pub(crate) async fn run(machine: Machine, seconds: u64, rate: f64) -> Report {
    let about = format!(
        "response time minus decode minus inference, {rate} requests/s at random times, {seconds} s each in turns of {} s",
        TURN.as_secs()
    );
    let mut report = Report::new(machine, "overhead", about);
    report.machine.rest().await;
    let cluster = Cluster::own();
    let (_stack, ours) = warm_stack(&cluster).await;
    let hand_written = Service::start(&cluster).await;
    let theirs = hand_written.request(&fixture_of("੫").bytes);
    warm_up(&theirs).await;
    let mut our_samples = Vec::new();
    let mut their_samples = Vec::new();
    for _ in 0..seconds.div_ceil(TURN.as_secs()) {
        our_samples.extend(open_loop(&ours, rate, Instant::now() + TURN).await);
        their_samples.extend(open_loop(&theirs, rate, Instant::now() + TURN).await);
    }
    let one = add_rows(&mut report, "akhar", &our_samples);
    let other = add_rows(&mut report, "hand-written queue", &their_samples);
    for (what, name, target) in
        [("p50", "p50_ms", targets::OVERHEAD_P50), ("p99", "p99_ms", targets::OVERHEAD_P99)]
    {
        let what = format!("overhead at {rate} requests/s, {what}, beside the hand-written durable loop");
        report.figure(what, "ms", number(&one, name), number(&other, name), target);
    }
    report
}

/// Adds the rows of one queue to the report. Returns the row of its overhead.
fn add_rows(report: &mut Report, name: &str, samples: &[Sample]) -> Row {
    let overheads: Vec<Duration> = samples.iter().filter_map(Sample::overhead).collect();
    assert_eq!(
        (n_good(samples), overheads.len()),
        (samples.len(), samples.len()),
        "{name}: some answers were not 200 or had no Server-Timing"
    );
    let row = quantiles(overheads);
    report.row(&format!("{name}, overhead"), row.clone());
    report.row(&format!("{name}, response"), response_times(samples));
    row
}
