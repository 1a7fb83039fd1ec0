//! Postgres falls silent: it neither answers nor resets connections.

use std::time::Instant;

use akhar_platform::database::Pool;
use akhar_tests::{Cluster, Form, Passing, Proxy, Seam, Stack, http::send, until};
use uuid::Uuid;

use crate::{digit, every_job_ended_once, record_ends, submit};

#[tokio::test(flavor = "multi_thread")]
async fn right_answers_come_again_after_all_connections_fell_silent() {
    let cluster = Cluster::shared();
    let folder = cluster.folder().join(Uuid::now_v7().to_string());
    let proxy = Proxy::to_postgres(&folder, cluster).expect("a proxy");
    let mut stack = Stack::with().socket(&folder).start().await;
    record_ends(&stack.db).await;
    recovers(&stack).await;
    // The second time, the connections are those that replaced the first ones.
    for _ in 0..2 {
        let silent = Instant::now();
        proxy.silence();
        recovers(&stack).await;
        println!("right answers came {:?} after the silence began", silent.elapsed());
    }
    assert!(!stack.api.has_ended() && !stack.workers[0].has_ended(), "nothing was restarted");
    every_job_ended_once(&stack).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_primary_that_dies_silently_is_left_when_its_name_moves() {
    let primary = Cluster::own();
    let folder = primary.folder().join("proxy");
    let proxy = Proxy::to_postgres(&folder, &primary).expect("a proxy");
    let mut stack = Stack::with().on(&primary).socket(&folder).start().await;
    record_ends(&stack.db).await;
    let replica = primary.replica().await;
    let acknowledged = submit(&stack).await;
    let silent = Instant::now();
    proxy.pass(Passing::Held);
    until("the api is not ready", async || (readiness(&stack).await == 503).then_some(())).await;
    let image = digit();
    let request = stack.post(image.operation, &Form::upload(&image.bytes));
    let refused = send(request.header("prefer", "respond-async")).await;
    assert_eq!(refused.status, 503);
    assert!(!refused.header("retry-after").is_empty(), "a 503 has Retry-After");
    proxy.silence();
    replica.catch_up(&primary).await;
    primary.kill().await;
    replica.promote().await;
    proxy.lead_to_postgres(&replica);
    proxy.pass(Passing::Normal);
    let database = stack.db.servers().options()[0].get_database().expect("a database").to_owned();
    stack.db = Pool::new(replica.options().database(&database).into(), 4);
    recovers(&stack).await;
    println!("right answers came {:?} after the primary fell silent", silent.elapsed());
    assert!(!stack.api.has_ended() && !stack.workers[0].has_ended(), "nothing was restarted");
    stack.job_is(acknowledged, "succeeded").await;
    every_job_ended_once(&stack).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_whose_claims_get_no_answer_is_not_alive() {
    let stack = Stack::start().await;
    until("the api is ready", async || (readiness(&stack).await == 200).then_some(())).await;
    let held = Seam::Claim.hold(&stack.db).await;
    let job = submit(&stack).await;
    until("no worker is alive", async || {
        assert_eq!(stack.get("/health/live").await.status, 200);
        let ready = stack.get("/health/ready").await;
        (ready.status == 503).then(|| assert_eq!(ready.json()["type"], "/problems/no-worker"))
    })
    .await;
    held.release().await;
    until("the worker is alive again", async || (readiness(&stack).await == 200).then_some(())).await;
    stack.job_is(job, "succeeded").await;
}

async fn readiness(stack: &Stack) -> u16 {
    stack.get("/health/ready").await.status
}

/// Waits until a picture is recognised, and the api is ready. The process is live meanwhile.
async fn recovers(stack: &Stack) {
    let image = digit();
    until("a picture is recognised", async || {
        assert_eq!(stack.get("/health/live").await.status, 200);
        let answer = stack.recognise(image.operation, &image.bytes).await;
        (answer.status == 200).then(|| assert_eq!(answer.predictions()[0].0, image.label))
    })
    .await;
    until("the api is ready", async || (readiness(stack).await == 200).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_does_not_say_that_a_silent_server_is_stopped() {
    let cluster = Cluster::shared();
    let folder = cluster.folder().join(Uuid::now_v7().to_string());
    let proxy = Proxy::to_postgres(&folder, cluster).expect("a proxy");
    let stack = Stack::with().workers(0).socket(&folder).start().await;
    proxy.pass(Passing::Held);
    let (_, silent, _) = stack.run(&["doctor"]).await;
    assert!(silent.contains("does not answer, though it does not refuse"), "{silent}");
    assert!(!silent.contains("start Postgres"), "{silent}");
}
