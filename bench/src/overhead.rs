//! Queue overhead: the product and a hand-written queue take turns in one run, on one Postgres.
//!
//! Both are an HTTP front end and a worker process, both make one durable commit when a job comes and one
//! when it ends, both run the same decoding and the same model; overhead is the client's response time
//! minus the decoding and inference that the answer's `Server-Timing` tells. The hand-written one has no
//! keys, no forms, no admission, no attempts, no rescue: it is the floor, not a peer.

use std::time::{Duration, Instant};

use akhar_tests::{Cluster, images::fixture_of};

use crate::{
    baseline::Baseline,
    clients::{Fate, open_loop, send},
    load::warm_stack,
    report::{Figure, Report, number, quantiles},
};

/// How long one runs before it is the other's turn, so that a noisy minute hits both.
const TURN: Duration = Duration::from_secs(5);

/// Runs both, each for so many seconds in turns.
pub(crate) async fn run(seconds: u64, rate: f64) -> Report {
    let cluster = Cluster::own();
    let (_stack, ours) = warm_stack(&cluster).await;
    let baseline = Baseline::start(&cluster).await;
    let theirs = baseline.request(&fixture_of("੫").bytes);
    for _ in 0..50 {
        assert_eq!(send(theirs.try_clone().expect("bytes")).await.status, Some(200), "the warm-up fails");
    }
    let (mut fates_of_ours, mut fates_of_theirs) = (Vec::new(), Vec::new());
    for _ in 0..seconds.div_ceil(TURN.as_secs()) {
        fates_of_ours.extend(open_loop(&ours, rate, Instant::now() + TURN).await);
        fates_of_theirs.extend(open_loop(&theirs, rate, Instant::now() + TURN).await);
    }
    let about = format!(
        "response time minus decode minus inference, {rate} requests/s at random times, {seconds} s each in turns of {} s",
        TURN.as_secs()
    );
    let mut report = Report::new("overhead", about);
    let one = fill(&mut report, "akhar", &fates_of_ours);
    let other = fill(&mut report, "hand-written queue", &fates_of_theirs);
    for (what, name, reach) in [("p50", "p50_ms", "≤ 2.5 ms, ratio ≤ 0.9"), ("p99", "p99_ms", "≤ 10 ms")]
    {
        let what = format!("overhead at {rate} requests/s, {what}, beside the hand-written durable loop");
        let (ours, other) = (number(&one, name), Some(number(&other, name)));
        report.figure(Figure { what, unit: "ms", ours, other, reach });
    }
    report
}

/// Adds a queue's rows; its overheads.
fn fill(report: &mut Report, name: &str, fates: &[Fate]) -> Vec<(&'static str, f64)> {
    let overheads: Vec<Duration> = fates.iter().filter_map(Fate::overhead).collect();
    let n_bad = fates.iter().filter(|f| f.status != Some(200) || f.work.is_none()).count();
    assert_eq!(n_bad, 0, "{name}: answers that were not 200 or told no times");
    let row = quantiles(&overheads);
    report.row(&format!("{name}, overhead"), row.clone());
    let responses: Vec<Duration> = fates.iter().map(|f| f.took).collect();
    report.row(&format!("{name}, response"), quantiles(&responses));
    row
}
