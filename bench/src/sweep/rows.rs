//! Measures the cost of a request against the size of the jobs table: first with finished rows, then with
//! waiting rows in addition to them.
//!
//! The waiting rows are asynchronous handwriting jobs: they need no upload, and every synchronous job comes
//! before them. The worker is stopped to measure submissions beside them. To measure claims it is started,
//! and then it also runs them.

use std::time::Duration;

use akhar_tests::{Answer, Cluster, Form, Stack, http, images::fixture_of};
use serde_json::json;
use uuid::Uuid;

use super::fill::fill;
use crate::{
    chart::{Chart, Panel},
    clients::send,
    report::{Figure, Report, median, number},
    statements,
};

const FINISHED: [i64; 4] = [0, 10_000, 100_000, 1_000_000];
/// The second value is the one to compare larger ones with: from it on, the worker always has other jobs to
/// run.
const WAITING: [i64; 4] = [0, 1_000, 10_000, 200_000];

/// The number of requests, one after another, at each size.
const N_REQUESTS: usize = 300;

/// The limit of waiting jobs. It is above the number of waiting rows, so that the queue is never full.
const MAX_WAITING: u64 = 10_000_000;

type Row = Vec<(&'static str, f64)>;

/// Measures submit, claim and a whole request at each size.
pub(crate) async fn run() -> Report {
    let cluster = statements::cluster().await;
    let mut stack = stack(&cluster).await;
    statements::enable(&stack.db).await;
    let about = format!(
        "{N_REQUESTS} digit requests, one after the other, at each size; submit and claim are mean times in the server"
    );
    let mut report = Report::new("sweep-rows", about);
    let finished = finished(&stack).await;
    let waiting = waiting(&mut stack).await;
    for (n, row) in FINISHED.iter().zip(&finished) {
        report.row(&format!("{n} finished"), row.clone());
    }
    for (n, row) in WAITING.iter().zip(&waiting) {
        report.row(&format!("{} finished + {n} waiting", FINISHED[3]), row.clone());
    }
    let (empty, full) = (&finished[0], &finished[3]);
    let mut figure = |what: &str, column: &str, ours: &Row, other: &Row| {
        let (ours, other) = (number(ours, column), Some(number(other, column)));
        report.figure(Figure { what: what.to_owned(), unit: "ms", ours, other, reach: "≤ 1.5 ×" });
    };
    figure("submit, 1,000,000 finished / empty", "submit_ms", full, empty);
    figure("claim, 1,000,000 finished / empty", "claim_ms", full, empty);
    figure("request p50, 1,000,000 finished / empty", "p50_ms", full, empty);
    figure("submit, 1,000,000 finished + 200,000 waiting / empty", "submit_ms", &waiting[3], &waiting[0]);
    figure(
        "claim per job, 1,000,000 finished + 200,000 waiting / empty",
        "claim_per_job_ms",
        &waiting[3],
        &waiting[0],
    );
    figure("request p50, 200,000 / 1,000 waiting", "p50_ms", &waiting[3], &waiting[1]);
    report.chart("cost-by-finished-rows", &chart("finished rows in the table", &FINISHED, &finished).svg());
    report.chart(
        "cost-by-waiting-rows",
        &chart("waiting rows, beside 1,000,000 finished", &WAITING, &waiting).svg(),
    );
    report
}

/// Starts an api and a worker and warms them up.
async fn stack(cluster: &Cluster) -> Stack {
    let stack = Stack::with().on(cluster).set("AKHAR_MAX_WAITING", MAX_WAITING).start().await;
    for _ in 0..50 {
        assert_eq!(send(digit(&stack)).await.status, Some(200), "a request of the warm-up failed");
    }
    stack
}

fn digit(stack: &Stack) -> reqwest::RequestBuilder {
    let image = fixture_of("੫");
    stack.post(image.operation, &Form::upload(&image.bytes))
}

/// Sends the requests one after another. Returns the median response time, ms.
async fn p50(request: impl Fn() -> reqwest::RequestBuilder, status: u16) -> f64 {
    let mut times = Vec::new();
    for _ in 0..N_REQUESTS {
        let sample = send(request()).await;
        assert_eq!(sample.status, Some(status));
        times.push(sample.took.as_secs_f64() * 1e3);
    }
    median(times)
}

/// Measures each number of finished rows, with a running worker and no waiting rows.
async fn finished(stack: &Stack) -> Vec<Row> {
    let template = "select id from jobs where state = 'succeeded' order by id limit 1";
    let template: Uuid = sqlx::query_scalar(template).fetch_one(&stack.db).await.expect("a finished job");
    let (mut rows, mut n_there) = (Vec::new(), 0);
    for n in FINISHED {
        // The copies are spread over half a day, which is less than the retention time, so they are not
        // deleted.
        fill(&stack.db, template, n - n_there, 12.0 * 3600.0).await;
        n_there = n;
        p50(|| digit(stack), 200).await;
        statements::reset(&stack.db).await;
        let p50 = p50(|| digit(stack), 200).await;
        let ran = statements::read(&stack.db).await;
        let (submit, _) = statements::cost(&ran, "submit");
        let (claim, per_job) = statements::cost(&ran, "claim");
        let row =
            vec![("p50_ms", p50), ("submit_ms", submit), ("claim_ms", claim), ("claim_per_job_ms", per_job)];
        println!("{n} finished: {row:?}");
        rows.push(row);
    }
    rows
}

/// Measures each number of waiting rows, in addition to the finished rows.
async fn waiting(stack: &mut Stack) -> Vec<Row> {
    stop_worker(stack).await;
    let mut rows = Vec::new();
    for n in WAITING {
        let template = accept_one(stack).await;
        let there = "select count(*) from jobs where state = 'queued'";
        let n_there: i64 = sqlx::query_scalar(there).fetch_one(&stack.db).await.expect("a count");
        // The template itself is one of the waiting rows.
        fill(&stack.db, template, (n - n_there).max(0), 3600.0).await;
        statements::reset(&stack.db).await;
        let accepted = p50(|| digit(stack).header("prefer", "respond-async"), 202).await;
        let (submit, _) = statements::cost(&statements::read(&stack.db).await, "submit");
        stack.add_worker().await;
        statements::reset(&stack.db).await;
        let p50 = p50(|| digit(stack), 200).await;
        let (claim, per_job) = statements::cost(&statements::read(&stack.db).await, "claim");
        stop_worker(stack).await;
        let row = vec![
            ("accepted_p50_ms", accepted),
            ("p50_ms", p50),
            ("submit_ms", submit),
            ("claim_ms", claim),
            ("claim_per_job_ms", per_job),
        ];
        println!("{n} waiting: {row:?}");
        rows.push(row);
    }
    rows
}

async fn stop_worker(stack: &mut Stack) {
    let mut worker = stack.workers.remove(0);
    worker.kill().await;
}

/// Submits an asynchronous handwriting job. It stays queued, because there is no worker.
async fn accept_one(stack: &Stack) -> Uuid {
    let request = stack.request("POST", "/v1/models/handwriting-generator").header("prefer", "respond-async");
    let order = json!({"text": "ਕਲਮ", "with-image": false}).to_string();
    let request =
        request.header("content-type", "application/json").body(order).timeout(Duration::from_secs(30));
    let answer: Answer = http::send(request).await;
    answer.job()
}

fn chart(x_label: &'static str, sizes: &[i64], rows: &[Row]) -> Chart {
    let line = |label: &str, column: &str| {
        (label.to_owned(), rows.iter().map(|row| number(row, column)).collect::<Vec<_>>())
    };
    Chart {
        title: "One digit request against the size of the jobs table".to_owned(),
        x_label,
        x: sizes.iter().map(ToString::to_string).collect(),
        panels: vec![
            Panel {
                y_label: "response time p50, ms",
                series: vec![line("synchronous", "p50_ms"), line("202, no worker", "accepted_p50_ms")],
            },
            Panel {
                y_label: "time in Postgres, ms",
                series: vec![
                    line("submit", "submit_ms"),
                    line("claim", "claim_ms"),
                    line("claim, per job", "claim_per_job_ms"),
                ],
            },
        ],
    }
}
