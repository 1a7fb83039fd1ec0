//! The metrics that the processes serve are those of the table, no more and no fewer, and have the right values.

use std::{
    collections::BTreeSet,
    net::TcpListener,
    path::PathBuf,
    process::{Command, Stdio},
};

use akhar_platform::metrics::{Processes, TABLE};
use akhar_tests::{
    Form, Stack,
    events::Events,
    http::send,
    monitor::{metrics, value},
    root,
    speech::recordings,
    until,
};
use serde_json::json;
use sqlx::Connection as _;

use super::operations;

#[tokio::test(flavor = "multi_thread")]
async fn every_metric_of_the_table_is_exported_and_no_other() {
    let webhooks = Stack::with().set_text("AKHAR_WEBHOOK_ALLOW", "127.0.0.0/8");
    let stack = webhooks.with_metrics().start().await;
    use_everything(&stack).await;
    for (process, of, not_of) in [
        (&stack.api, Processes::Api, Processes::Worker),
        (&stack.workers[0], Processes::Worker, Processes::Api),
    ] {
        let text = metrics(process).await;
        let rows = TABLE.iter().filter(|row| row.processes == of || row.processes == Processes::All);
        let expected: BTreeSet<(String, String)> =
            rows.map(|row| (row.name.to_owned(), row.kind.name().to_owned())).collect();
        let exported: BTreeSet<(String, String)> = text
            .lines()
            .filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '))
            .map(|(name, kind)| (name.to_owned(), kind.to_owned()))
            .collect();
        assert_eq!(
            exported, expected,
            "the {of:?} exports other metrics than its table has, without {not_of:?}"
        );
        check_with_promtool(&text);
    }
    values_are_right(&stack).await;
}

/// Makes requests that touch everything that is counted.
async fn use_everything(stack: &Stack) {
    for image in operations() {
        stack.recognise(image.operation, &image.bytes).await.predictions();
    }
    assert_eq!(stack.recognise("digit-recognition", b"\x89PNG\r\n\x1a\nbroken").await.status, 422);
    let text = json!({"text": "ਸਤਿ"});
    let written = stack.request("POST", "/v1/models/handwriting-generator").json(&text);
    assert_eq!(send(written).await.status, 200);
    let recording = recordings().swap_remove(0);
    let form = Form::upload_and(&recording.bytes, "lang", recording.lang).text("with-translation", "true");
    assert_eq!(send(stack.post("speech-recognition", &form)).await.status, 200);
    let asynchronous = stack.post("speech-recognition", &form).header("prefer", "respond-async");
    let job = send(asynchronous).await.job();
    Events::open(stack.request("GET", &format!("/v1/jobs/{job}/events")), None).await.rest().await;
    assert_eq!(send(stack.anonymous("GET", "/nowhere")).await.status, 404);
    stack.keys(&["webhook", &stack.key[3..11]]).await;
    let nobody_listens = TcpListener::bind("127.0.0.1:0").and_then(|port| port.local_addr()).expect("a port");
    let announced = stack.request("POST", "/v1/models/handwriting-generator").json(&text);
    let announced = announced.header("akhar-webhook", format!("http://{nobody_listens}/"));
    assert_eq!(send(announced).await.status, 200);
    until("the attempt to send a webhook is measured", async || {
        value(&metrics(&stack.api).await, "akhar_webhook_attempt_duration_seconds_count", &[]).map(|_| ())
    })
    .await;
}

async fn values_are_right(stack: &Stack) {
    let (api, worker) = (metrics(&stack.api).await, metrics(&stack.workers[0]).await);
    let of_api = |name, labels: &[&str]| value(&api, name, labels);
    let of_worker = |name, labels: &[&str]| value(&worker, name, labels);
    let route = "route=\"/v1/models/digit-recognition\"";
    assert_eq!(
        of_api("akhar_http_responses_total", &[route, "status=\"200\"", "method=\"POST\""]),
        Some(1.0)
    );
    assert_eq!(of_api("akhar_http_responses_total", &["unmatched", "status=\"404\""]), Some(1.0));
    assert_eq!(of_api("akhar_problems_total", &["not-found"]), Some(1.0));
    assert_eq!(of_api("akhar_problems_total", &["storage-full"]), Some(0.0), "it is there from the start");
    assert_eq!(of_worker("akhar_upload_store_failures_total", &["list"]), Some(0.0));
    assert_eq!(of_api("akhar_http_requests_in_progress", &[]), Some(0.0));
    assert_eq!(of_api("akhar_jobs_submitted_total", &["speech", "async"]), Some(1.0));
    assert_eq!(of_api("akhar_queue_count_success", &[]), Some(1.0));
    assert_eq!(of_api("akhar_webhook_attempts_total", &["failed"]), Some(1.0));
    assert_eq!(of_api("akhar_webhook_attempts_total", &["delivered"]), Some(0.0));
    assert_eq!(of_worker("akhar_attempts_total", &["digit", "succeeded"]), Some(1.0));
    assert_eq!(of_worker("akhar_attempts_total", &["digit", "rejected"]), Some(1.0));
    assert_eq!(of_worker("akhar_attempts_total", &["speech", "succeeded"]), Some(2.0));
    assert_eq!(of_worker("akhar_job_wait_seconds_count", &[]), Some(7.0));
    assert_eq!(of_worker("akhar_real_time_factor_ratio_count", &[]), Some(2.0));
    assert_eq!(of_worker("akhar_model_info", &["operation=\"digit-recognition\""]), Some(1.0));
    assert_eq!(of_worker("akhar_dead_jobs_total", &[]), Some(0.0));
    let offset = of_worker("akhar_clock_offset_seconds", &[]);
    assert!(offset.is_some_and(|seconds| seconds.abs() < 1.0), "{offset:?}");
    let waits = of_worker("akhar_job_wait_seconds_sum", &[]);
    assert!(waits.is_some_and(|seconds| (0.0..30.0).contains(&seconds)), "{waits:?}");
    assert!(of_api("process_resident_memory_bytes", &[]).is_some_and(|bytes| bytes > 1e6));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queue_and_the_rescue_of_its_jobs_are_measured() {
    let mut stack = Stack::with().with_metrics().workers(0).start().await;
    let image = &operations()[0];
    for _ in 0..2 {
        let request = stack.post(image.operation, &Form::upload(&image.bytes));
        send(request.header("prefer", "respond-async")).await.job();
    }
    until("two jobs wait", async || {
        let text = metrics(&stack.api).await;
        let n = value(&text, "akhar_queue_jobs", &[image.operation, "queued"]);
        (n == Some(2.0)).then_some(())
    })
    .await;
    let dead = "update jobs set state = 'running', worker = 'dead', started_at = now(), turn = 0,
        attempt = case when id = first then max_attempts else 1 end, deaths = case when id = first then 4 else 0 end
        from (select min(id::text)::uuid as first from jobs) firsts";
    sqlx::query(dead).execute(&stack.db).await.expect("two claims of a worker that is dead");
    stack.add_worker().await;
    stack.jobs_are(1, "failed").await;
    stack.jobs_are(1, "succeeded").await;
    until("the rescue is counted", async || {
        let text = metrics(&stack.workers[0]).await;
        let count = |name| value(&text, name, &["worker-lost"]);
        (count("akhar_rescued_jobs_total") == Some(1.0) && count("akhar_dead_jobs_total") == Some(1.0))
            .then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_that_are_due_are_measured() {
    let stack = Stack::with().with_metrics().workers(0).start().await;
    let image = &operations()[0];
    let request = stack.post(image.operation, &Form::upload(&image.bytes));
    let job = send(request.header("prefer", "respond-async")).await.job();
    let due = "insert into webhook_deliveries (job_id, account_id, url, due_at)
        select id, account_id, 'https://receiver.example', now() + interval '1 second' from jobs where id = $1";
    sqlx::query(due).bind(job).execute(&stack.db).await.expect("a delivery");
    // No process attempts a delivery that another one has locked.
    let mut of_holder = stack.db.servers().connect().await.expect("a connection");
    let mut holder = of_holder.begin().await.expect("a transaction");
    sqlx::query("select from webhook_deliveries for update").execute(&mut *holder).await.expect("a lock");
    until("a webhook is due", async || {
        let text = metrics(&stack.api).await;
        let is_late = value(&text, "akhar_webhooks_oldest_due_seconds", &[]).is_some_and(|age| age > 0.0);
        (is_late && value(&text, "akhar_webhooks_due", &[]) == Some(1.0)).then_some(())
    })
    .await;
    holder.rollback().await.expect("a rollback");
}

/// `promtool check metrics` has no complaint.
fn check_with_promtool(text: &str) {
    let program = std::env::var("AKHAR_PROMTOOL")
        .map_or_else(|_| root().join(".cache/prometheus/usr/bin/promtool"), PathBuf::from);
    assert!(program.is_file(), "{} is missing: run `make test`, which installs it", program.display());
    let mut command = Command::new(program);
    let mut child = command
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("promtool starts");
    let mut stdin = child.stdin.take().expect("piped");
    std::io::Write::write_all(&mut stdin, text.as_bytes()).expect("promtool reads");
    drop(stdin);
    let output = child.wait_with_output().expect("promtool ends");
    let said =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(output.status.success() && said.is_empty(), "{said}\n{text}");
}
