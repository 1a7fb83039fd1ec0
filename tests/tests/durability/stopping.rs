//! A stop by SIGTERM: the api and the workers finish the requests and jobs that they have, and exit with code
//! 0.

use akhar_tests::{Answer, Form, Seam, Stack, http::send, load::Load, speech::recording, until};
use rustix::process::Signal;
use tokio::{net::TcpStream, task::JoinSet};

use crate::{digit, every_job_ended_once, record_ends, statuses};

/// The number of requests in flight while a process stops.
const N: i64 = 3;

fn send_some(stack: &Stack) -> JoinSet<Answer> {
    let image = digit();
    (0..N).map(|_| send(stack.post(image.operation, &Form::upload(&image.bytes)))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_worker_finishes_its_claimed_jobs() {
    // It does not wait for this limit, whatever else it does beside its jobs.
    let mut stack = Stack::with().set("AKHAR_SHUTDOWN_S", 3600).with_metrics().start().await;
    let mut held = Seam::Finish.hold(&stack.db).await;
    let in_flight = send_some(&stack);
    held.holds(1).await; // outcomes are written in groups, so one held outcome holds all of them
    stack.jobs_are(N, "running").await;
    stack.workers[0].signal(Signal::TERM);
    held.release().await;
    for answer in in_flight.join_all().await {
        answer.predictions();
    }
    assert!(stack.workers[0].ended().await.success());
    let n_alive: i64 =
        sqlx::query_scalar("select count(*) from workers").fetch_one(&stack.db).await.expect("a count");
    assert_eq!(n_alive, 0, "the worker removed itself from the list of workers");
    let n: i64 = sqlx::query_scalar("select count(*) from jobs where attempt <> 1 or state <> 'succeeded'")
        .fetch_one(&stack.db)
        .await
        .expect("a count");
    assert_eq!(n, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_worker_finishes_the_job_that_it_is_claiming() {
    let mut stack = Stack::start().await;
    let mut held = Seam::Claim.hold(&stack.db).await;
    let image = digit();
    let in_flight = tokio::spawn(send(stack.post(image.operation, &Form::upload(&image.bytes))));
    held.holds(1).await;
    stack.workers[0].signal(Signal::TERM);
    until("the worker logs that it is stopping", async || {
        stack.workers[0].log().iter().any(|line| line.contains("stopping")).then_some(())
    })
    .await;
    held.release().await;
    // No other worker runs, so the worker that claimed the job must finish it.
    in_flight.await.expect("no panic").predictions();
    assert!(stack.workers[0].ended().await.success());
    let attempt: i32 =
        sqlx::query_scalar("select attempt from jobs").fetch_one(&stack.db).await.expect("one job");
    assert_eq!(attempt, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_worker_returns_all_recordings_that_it_cannot_finish() {
    let mut stack = Stack::with().set("AKHAR_SHUTDOWN_S", 2).start().await;
    let long = Form::upload(&recording("pa-water.mp3").bytes.repeat(120));
    for name in ["first", "second", "third", "fourth"] {
        let key = stack.keys(&["create", "--name", name]).await;
        for _ in 0..2 {
            let request = stack.post_as(&key, "speech-recognition", &long);
            send(request.header("prefer", "respond-async")).await.job();
        }
    }
    stack.jobs_are(8, "running").await;
    stack.workers[0].signal(Signal::TERM);
    assert!(stack.workers[0].ended().await.success());
    stack.jobs_are(8, "queued").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopping_api_answers_the_requests_that_it_accepted() {
    let mut stack = Stack::start().await;
    let mut held = Seam::Finish.hold(&stack.db).await;
    let in_flight = send_some(&stack);
    held.holds(1).await; // outcomes are written in groups, so one held outcome holds all of them
    stack.jobs_are(N, "running").await;
    stack.api.signal(Signal::TERM);
    until("the api refuses new connections", async || {
        TcpStream::connect(stack.base.trim_start_matches("http://")).await.is_err().then_some(())
    })
    .await;
    held.release().await;
    for answer in in_flight.join_all().await {
        answer.predictions();
    }
    assert!(stack.api.ended().await.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_replaced_one_by_one_fail_no_request() {
    let mut stack = Stack::with().workers(2).start().await;
    record_ends(&stack.db).await;
    let image = digit();
    let load = Load::start(&stack, 6, image.operation, &image.bytes);
    for old in 0..2 {
        stack.add_worker().await;
        stack.workers[old].signal(Signal::TERM);
        assert!(stack.workers[old].ended().await.success());
    }
    let sent = load.stop().await;
    assert_eq!(statuses(&sent).into_keys().collect::<Vec<_>>(), [200]);
    assert_eq!(every_job_ended_once(&stack).await, i64::try_from(sent.len()).expect("few"));
    let n: i64 = sqlx::query_scalar("select count(*) from ends where attempt <> 1")
        .fetch_one(&stack.db)
        .await
        .expect("a count");
    assert_eq!(n, 0, "a stopping worker dropped a job");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_a_stopping_worker_returns_in_its_last_attempt_is_run_again() {
    let mut stack = Stack::with().set("AKHAR_SHUTDOWN_S", 1).workers(0).start().await;
    let form = Form::upload(&recording("pa-water.mp3").bytes.repeat(230));
    let job = send(stack.post("speech-recognition", &form).header("prefer", "respond-async")).await.job();
    sqlx::query("update jobs set attempt = max_attempts - 1").execute(&stack.db).await.expect("two attempts");
    stack.add_worker().await;
    stack.job_is(job, "running").await;
    stack.workers[0].signal(Signal::TERM);
    assert!(stack.workers[0].ended().await.success());
    stack.job_is(job, "queued").await;
    stack.add_worker().await;
    stack.job_is(job, "running").await;
}
