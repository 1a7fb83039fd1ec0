//! The number of workers falls to zero and rises again, as KEDA does it.

use std::{fs, path::Path, time::Duration};

use akhar_platform::database::Pool;
use akhar_tests::{Form, Stack, http::send, load::Load, until};
use rustix::process::Signal;
use sqlx::AssertSqlSafe;

use crate::{digit, every_job_ended_once, record_ends, statuses};

#[tokio::test(flavor = "multi_thread")]
async fn workers_scaled_to_zero_and_back_lose_and_refuse_no_request() {
    let mut stack = Stack::with()
        .set_text("AKHAR_READY_NEEDS", "database")
        .set("AKHAR_QUICK_WAIT_S", 60)
        .set("AKHAR_MAX_WAITING", 100_000)
        .start()
        .await;
    record_ends(&stack.db).await;
    let image = digit();
    let asynchronous =
        stack.post(image.operation, &Form::upload(&image.bytes)).header("prefer", "respond-async");
    let finished = send(asynchronous.try_clone().expect("a request without a stream")).await.job();
    stack.job_is(finished, "succeeded").await;
    let waiting = Load::start(&stack, 4, image.operation, &image.bytes);
    let submitting = Load::measure_every(&asynchronous, Duration::from_millis(50));
    until("jobs end", async || (n_ended(&stack.db).await > 20).then_some(())).await;

    let mut worker = stack.workers.remove(0);
    worker.signal(Signal::TERM);
    assert!(worker.ended().await.success());
    assert_eq!(stack.get("/readyz").await.status, 200);
    assert_eq!(stack.get(&format!("/v1/jobs/{finished}")).await.status, 200);
    let query = query_of_the_scaler("quick");
    until("the scaler wants a worker", async || {
        let age: i64 =
            sqlx::query_scalar(AssertSqlSafe(query.clone())).fetch_one(&stack.db).await.expect("an age");
        (age > 0).then_some(())
    })
    .await;
    stack.add_worker().await;

    let n = n_ended(&stack.db).await;
    until("jobs end again", async || (n_ended(&stack.db).await > n + 20).then_some(())).await;
    let (waited, submitted) = (waiting.stop().await, submitting.stop().await);
    assert_eq!(statuses(&waited).into_keys().collect::<Vec<_>>(), [200]);
    assert!(submitted.iter().all(|sample| sample.status == Some(202)), "{submitted:?}");
    every_job_ended_once(&stack).await;
}

async fn n_ended(db: &Pool) -> i64 {
    sqlx::query_scalar("select count(*) from ends").fetch_one(db).await.expect("a count")
}

/// The query of the trigger with this name.
fn query_of_the_scaler(name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/kubernetes/scaling/scaled-object.yaml");
    let text = fs::read_to_string(file).expect("the scaler's file");
    let trigger =
        text.split("- type: postgresql").find(|trigger| trigger.contains(&format!("name: {name}\n")));
    let (_, query) = trigger.and_then(|trigger| trigger.split_once("query: >-")).expect("a query");
    query.split("\n---").next().expect("some text").to_owned()
}
