//! Measures the cost of a request against the number of clients: closed loops of 1 to 64 clients, one after
//! another, on one stack.

use std::time::{Duration, Instant};

use akhar_tests::Cluster;

use crate::{
    chart::{Chart, Panel},
    clients::closed_loop,
    cpu::CpuMeter,
    load::warm_stack,
    report::{Report, count, number, quantiles},
};

const CLIENTS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Measures each number of clients for `seconds`.
pub(crate) async fn run(seconds: u64) -> Report {
    let cluster = Cluster::own();
    let (stack, request) = warm_stack(&cluster).await;
    let about = format!("digit recognition, closed-loop clients, {seconds} s each; CPU per answered request");
    let mut report = Report::new("sweep-clients", about);
    let mut rows = Vec::new();
    for n in CLIENTS {
        let meter = CpuMeter::start(&stack, &cluster);
        let started = Instant::now();
        let samples = closed_loop(&request, n, started + Duration::from_secs(seconds)).await;
        let took = started.elapsed().as_secs_f64();
        let n_good = samples.iter().filter(|s| s.status == Some(200)).count();
        assert_eq!(n_good, samples.len(), "some answers were not 200");
        let mut row = vec![("per_s", count(n_good) / took)];
        row.extend(quantiles(&samples.iter().map(|s| s.took).collect::<Vec<_>>()));
        row.extend(meter.per_request(n_good));
        report.row(&format!("{n} clients"), row.clone());
        rows.push(row);
    }
    report.chart("cost-by-clients", &chart(&rows).svg());
    report
}

fn chart(rows: &[Vec<(&'static str, f64)>]) -> Chart {
    let line = |label: &str, column: &str| {
        (label.to_owned(), rows.iter().map(|row| number(row, column)).collect::<Vec<_>>())
    };
    Chart {
        title: "One digit request against concurrency".to_owned(),
        x_label: "closed-loop clients",
        x: CLIENTS.map(|n| n.to_string()).into(),
        panels: vec![
            Panel { y_label: "requests/s", series: vec![line("answered", "per_s")] },
            Panel {
                y_label: "response time, ms",
                series: vec![line("p50", "p50_ms"), line("p99", "p99_ms")],
            },
            Panel {
                y_label: "CPU per request, ms",
                series: vec![
                    line("Postgres", "postgres_cpu_ms"),
                    line("worker", "worker_cpu_ms"),
                    line("api", "api_cpu_ms"),
                    line("load generator", "client_cpu_ms"),
                ],
            },
        ],
    }
}
