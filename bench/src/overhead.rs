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
    load::{medians_of, range_of, warm_stack, warm_up},
    machine::Machine,
    report::Report,
    targets,
};

/// The columns of the overhead.
const P50: &str = "p50_ms";
const P99: &str = "p99_ms";

/// The length of one turn. Turns are short, so that a disturbance of the machine affects both queues.
const TURN: Duration = Duration::from_secs(5);

/// Measures both queues in turns, each for `seconds` in each of `n_runs` runs.
pub(crate) async fn run(machine: Machine, seconds: u64, n_runs: usize, rate: f64) -> Report {
    let about = format!(
        "response time minus decode minus inference, {rate} requests/s at random times, medians and ranges of {n_runs} runs of \
         {seconds} s each, in turns of {} s",
        TURN.as_secs()
    );
    let mut report = Report::new(machine, "overhead", about);
    let cluster = Cluster::own();
    let (_stack, ours) = warm_stack(&cluster).await;
    let hand_written = Service::start(&cluster).await;
    let theirs = hand_written.request(&fixture_of("੫").bytes);
    warm_up(&theirs).await;
    let queues = [("akhar", ours), ("hand-written queue", theirs)];
    let mut runs = [Vec::new(), Vec::new()];
    for _ in 0..n_runs {
        report.machine.rest().await;
        let mut samples = [Vec::new(), Vec::new()];
        for _ in 0..seconds.div_ceil(TURN.as_secs()) {
            for ((_, request), samples) in queues.iter().zip(&mut samples) {
                samples.extend(open_loop(request, rate, Instant::now() + TURN).await);
            }
        }
        for (((name, _), samples), runs) in queues.iter().zip(&samples).zip(&mut runs) {
            runs.push(times_of(name, samples));
            println!("{name}: {:?}", runs.last());
        }
    }
    for ((name, _), runs) in queues.iter().zip(&runs) {
        report.row(name, with_ranges(runs));
    }
    let [ours, theirs] = runs.map(|runs| medians_of(&runs));
    for (what, column, target) in [("p50", P50, targets::OVERHEAD_P50), ("p99", P99, targets::OVERHEAD_P99)] {
        let what = format!("overhead at {rate} requests/s, {what}, beside the hand-written durable loop");
        report.figure(what, "ms", number(&ours, column), number(&theirs, column), target);
    }
    report
}

/// The overhead and the response time of one queue in one run.
fn times_of(name: &str, samples: &[Sample]) -> Row {
    let overheads: Vec<Duration> = samples.iter().filter_map(Sample::overhead).collect();
    assert_eq!(
        (n_good(samples), overheads.len()),
        (samples.len(), samples.len()),
        "{name}: some answers were not 200 or had no Server-Timing"
    );
    let (overheads, responses) = (quantiles(overheads), response_times(samples));
    vec![
        ("requests", number(&overheads, "n")),
        (P50, number(&overheads, "p50_ms")),
        (P99, number(&overheads, "p99_ms")),
        ("response_p50_ms", number(&responses, "p50_ms")),
        ("response_p99_ms", number(&responses, "p99_ms")),
    ]
}

/// The medians of the runs, with the ranges of the overhead.
fn with_ranges(runs: &[Row]) -> Row {
    let mut row = medians_of(runs);
    for (column, [least, most]) in [(P50, ["p50_min", "p50_max"]), (P99, ["p99_min", "p99_max"])] {
        let [min, max] = range_of(runs, column);
        row.extend([(least, min), (most, max)]);
    }
    row
}
