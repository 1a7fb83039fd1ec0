//! Closed-loop load on the whole service: throughput, response times, the CPU time of each part, and memory.

use std::time::{Duration, Instant};

use akhar_tests::{
    Cluster, Form, Stack, StackBuilder,
    figures::{Row, count, median, number, response_times},
    images::fixture_of,
    load::{Sample, closed_loop, measure, n_good, statuses},
    speech::{RATE, recording, wav},
};
use reqwest::RequestBuilder;
use serde_json::json;

use crate::{cpu::CpuMeter, machine::Machine, report::Report, targets};

/// The number of clients whose figures are in the summary's first table.
const OF_THE_SUMMARY: usize = 32;

/// The number of requests before the measurement. They open connections and fill caches.
const WARM_UP: usize = 50;

/// Starts a stack with the product's defaults and warms it up. Also returns a request for it.
pub(crate) async fn warm_stack(cluster: &Cluster) -> (Stack, RequestBuilder) {
    warm(Stack::with().on(cluster)).await
}

pub(crate) async fn warm(stack: StackBuilder<'_>) -> (Stack, RequestBuilder) {
    let stack = stack.set("AKHAR_DATABASE_CONNECTIONS", 20).start().await;
    let request = digit(&stack);
    warm_up(&request).await;
    (stack, request)
}

/// A picture of a digit for this stack.
pub(crate) fn digit(stack: &Stack) -> RequestBuilder {
    let image = fixture_of("੫");
    stack.post(image.operation, &Form::upload(&image.bytes))
}

/// Sends a request until connections are open and caches are full. All must be answered.
pub(crate) async fn warm_up(request: &RequestBuilder) {
    for _ in 0..WARM_UP {
        assert!(measure(request).await.is_good(), "a request of the warm-up failed");
    }
}

/// A closed loop of so many seconds.
pub(crate) async fn for_seconds(request: &RequestBuilder, clients: usize, seconds: u64) -> Vec<Sample> {
    closed_loop(request, clients, Instant::now() + Duration::from_secs(seconds)).await
}

/// Throughput, response times and errors of a closed loop of so many seconds.
pub(crate) fn row_of(samples: &[Sample], seconds: u64) -> Row {
    let n_good = n_good(samples);
    let mut row = vec![("per_s", count(n_good) / Duration::from_secs(seconds).as_secs_f64())];
    row.extend(response_times(samples));
    row.push(("errors", count(samples.len() - n_good)));
    row
}

/// The median of each column.
pub(crate) fn medians_of(rows: &[Row]) -> Row {
    let names = rows.first().into_iter().flatten().map(|(name, _)| *name);
    names.map(|name| (name, median(rows.iter().map(|row| number(row, name))))).collect()
}

/// The smallest and the largest number of a column.
pub(crate) fn range_of(rows: &[Row], column: &str) -> [f64; 2] {
    let numbers = || rows.iter().map(|row| number(row, column));
    [numbers().fold(f64::NAN, f64::min), numbers().fold(f64::NAN, f64::max)]
}

/// Measures throughput, response times, and CPU time per answered request with each number of clients.
pub(crate) async fn load(machine: Machine, seconds: u64, numbers_of_clients: &[usize]) -> Report {
    let about = format!(
        "digit recognition, closed-loop clients, {seconds} s each, one worker; CPU per answered request"
    );
    let mut report = Report::new(machine, "load", about);
    let cluster = Cluster::own();
    let (stack, request) = warm_stack(&cluster).await;
    for &clients in numbers_of_clients {
        report.machine.rest().await;
        let meter = CpuMeter::start(&stack, &cluster);
        let samples = for_seconds(&request, clients, seconds).await;
        let split = meter.per_request(n_good(&samples));
        report.row(&format!("{clients} clients"), [row_of(&samples, seconds), split.clone()].concat());
        if clients == OF_THE_SUMMARY {
            let cpu = |name: &str| number(&split, name);
            for (part, ms, target) in [
                ("api and worker", cpu("api_cpu_ms") + cpu("worker_cpu_ms"), targets::CPU_OF_A_DIGIT),
                ("Postgres", cpu("postgres_cpu_ms"), targets::CPU_OF_A_DIGIT_IN_POSTGRES),
                ("load generator", cpu("client_cpu_ms"), targets::NONE),
            ] {
                report.figure(
                    format!("CPU per digit request, {clients} clients, {part}"),
                    "ms",
                    ms,
                    None,
                    target,
                );
            }
        }
        let bad: Vec<_> = statuses(&samples).into_iter().filter(|(status, _)| *status != 200).collect();
        if !bad.is_empty() {
            println!("answers other than 200 by status (0 stands for no answer): {bad:?}");
        }
    }
    report
}

/// Measures the memory of the api and the worker, which serve metrics: when the worker is ready, when it has used each bundled
/// model, after long recordings, and after load.
pub(crate) async fn memory(machine: Machine, seconds: u64) -> Report {
    let about = format!("resident memory; load is 32 closed-loop clients for {seconds} s");
    let mut report = Report::new(machine, "memory", about);
    report.machine.rest().await;
    let cluster = Cluster::own();
    let (stack, request) = warm(Stack::with().on(&cluster).with_metrics()).await;
    let mut rows = |when: &str| {
        for (what, process) in [("api", &stack.api), ("worker", &stack.workers[0])] {
            let (now, peak) = process.memory_mib();
            report.row(&format!("{what}, {when}"), vec![("rss_mib", now), ("peak_mib", peak)]);
            if what == "worker" {
                let what = format!("resident memory of a worker, {when}");
                report.figure(what, "MiB", now, None, targets::MEMORY_OF_A_WORKER);
            }
        }
    };
    rows("warm");
    let text = json!({"text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"});
    let written = stack.request("POST", "/v1/models/handwriting-generator").json(&text);
    assert!(measure(&written).await.is_good(), "handwriting failed");
    let recordings = [("pa", "pa-two-sentences.wav"), ("en", "en-weather.wav")];
    let transcribe = async |seconds: usize| {
        for (lang, name) in recordings {
            let sound = recording(name).samples().into_iter().cycle().take(seconds * RATE);
            let form = Form::upload_and(&wav(&sound.collect::<Vec<_>>()), "lang", lang)
                .text("with-translation", "true")
                .text("format", "written");
            assert!(measure(&stack.post("speech-recognition", &form)).await.is_good(), "no transcription");
        }
        // What is freed goes back to the system within a second.
        tokio::time::sleep(Duration::from_secs(3)).await;
    };
    transcribe(5).await;
    rows("all models used");
    transcribe(60).await;
    rows("after recordings of a minute");
    for_seconds(&request, 32, seconds).await;
    rows("after load");
    report
}
