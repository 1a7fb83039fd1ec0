//! Closed-loop load on the whole service: throughput, the CPU time of each part, and memory.

use std::time::{Duration, Instant};

use akhar_tests::{Cluster, Form, Process, Stack, StackBuilder, images::fixture_of};

use crate::{
    clients::{closed_loop, send, statuses},
    cpu::CpuMeter,
    report::{Figure, Report, count, number, quantiles},
};

/// The number of requests before the measurement. They open connections and fill caches.
const WARM_UP: usize = 50;

/// Starts a stack with the product's defaults and warms it up. Also returns a request for it.
pub(crate) async fn warm_stack(cluster: &Cluster) -> (Stack, reqwest::RequestBuilder) {
    warm(Stack::with().on(cluster)).await
}

async fn warm(stack: StackBuilder<'_>) -> (Stack, reqwest::RequestBuilder) {
    let stack = stack.set("AKHAR_DATABASE_CONNECTIONS", 20).start().await;
    let image = fixture_of("੫");
    let request = stack.post(image.operation, &Form::upload(&image.bytes));
    for _ in 0..WARM_UP {
        let sample = send(request.try_clone().expect("bytes")).await;
        assert_eq!(sample.status, Some(200), "a request of the warm-up failed");
    }
    (stack, request)
}

/// Measures throughput, response times, and CPU time per answered request.
pub(crate) async fn load(seconds: u64, clients: usize) -> Report {
    let cluster = Cluster::own();
    let (stack, request) = warm_stack(&cluster).await;
    let meter = CpuMeter::start(&stack, &cluster);
    let end = Instant::now() + Duration::from_secs(seconds);
    let samples = closed_loop(&request, clients, end).await;
    let n_good = samples.iter().filter(|s| s.status == Some(200)).count();
    let split = meter.per_request(n_good);
    let about = format!("{clients} closed-loop clients, {seconds} s, one worker");
    let mut report = Report::new("load", about);
    let times: Vec<Duration> = samples.iter().map(|s| s.took).collect();
    let mut row = vec![("per_s", count(n_good) / Duration::from_secs(seconds).as_secs_f64())];
    row.extend(quantiles(&times));
    row.push(("errors", count(samples.len() - n_good)));
    report.row("digit-recognition", row);
    report.row("CPU per request", split.clone());
    for (part, name, reach) in [
        ("Postgres", "postgres_cpu_ms", "≤ 0.3"),
        ("worker", "worker_cpu_ms", "≤ 0.5"),
        ("api", "api_cpu_ms", "≤ 0.25"),
        ("load generator", "client_cpu_ms", "stated"),
    ] {
        let what = format!("CPU per digit request, {clients} clients, {part}");
        report.figure(Figure { what, unit: "ms", ours: number(&split, name), other: None, reach });
    }
    let bad: Vec<_> = statuses(&samples).into_iter().filter(|(status, _)| *status != 200).collect();
    if !bad.is_empty() {
        println!("answers other than 200 by status (0 stands for no answer): {bad:?}");
    }
    report
}

/// Measures the memory of the api and the worker, which serve metrics.
pub(crate) async fn memory(seconds: u64) -> Report {
    let cluster = Cluster::own();
    let (stack, request) = warm(Stack::with().on(&cluster).with_metrics()).await;
    let mut report =
        Report::new("memory", format!("resident memory; load is 32 closed-loop clients for {seconds} s"));
    let mut rows = |when: &str| {
        for (what, process) in [("api", &stack.api), ("worker", &stack.workers[0])] {
            report.row(&format!("{what}, {when}"), memory_of(process));
        }
    };
    rows("warm");
    closed_loop(&request, 32, Instant::now() + Duration::from_secs(seconds)).await;
    rows("after load");
    report
}

fn memory_of(process: &Process) -> Vec<(&'static str, f64)> {
    let (now, peak) = memory_mib(process);
    vec![("rss_mib", now), ("peak_mib", peak)]
}

/// The resident memory of a process now and at its peak, MiB.
pub(crate) fn memory_mib(process: &Process) -> (f64, f64) {
    let (now, peak) = process.memory_kib();
    let mib = |kib: u64| f64::from(u32::try_from(kib).unwrap_or(u32::MAX)) / 1024.0;
    (mib(now), mib(peak))
}
