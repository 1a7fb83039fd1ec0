//! Postgres is killed (-9) between each two steps of a job. A waiting caller still gets one correct answer,
//! and everything that a caller was told is kept. The server flushes as late as possible, so that
//! asynchronous commits are lost.

use akhar_tests::{Answer, Cluster, Form, Seam, Stack, http::send, load::Load, until};
use rustix::process::Signal;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::{digit, every_job_ended_once, record_ends, statuses, submit};

async fn start(cluster: &Cluster, n_workers: usize) -> Stack {
    cluster.flush_late().await;
    let stack = Stack::with().on(cluster).workers(n_workers).start().await;
    record_ends(&stack.db).await;
    stack
}

/// Starts a caller that waits for its answer.
fn wait_for_answer(stack: &Stack) -> JoinHandle<Answer> {
    let image = digit();
    tokio::spawn(send(stack.post(image.operation, &Form::upload(&image.bytes))))
}

async fn restart(cluster: &Cluster) {
    cluster.kill().await;
    cluster.start_again().await;
}

async fn assert_correct_answer(waiting: JoinHandle<Answer>) {
    assert_eq!(waiting.await.expect("no panic").predictions()[0].0, digit().label);
}

async fn n_succeeded(stack: &Stack) -> i64 {
    let count = sqlx::query_scalar("select count(*) from jobs where state = 'succeeded'");
    count.fetch_one(&stack.db).await.expect("a count")
}

/// Waits until no job is queued or running.
async fn wait_for_all_jobs(stack: &Stack) {
    until("no job is queued or running", async || {
        let n: i64 = sqlx::query_scalar("select count(*) from jobs where state in ('queued', 'running')")
            .fetch_one(&stack.db)
            .await
            .ok()?;
        (n == 0).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_gets_its_answer_after_a_crash_that_lost_the_submission() {
    let cluster = Cluster::own();
    let mut stack = start(&cluster, 0).await;
    let waiting = wait_for_answer(&stack);
    stack.jobs_are(1, "queued").await;
    restart(&cluster).await;
    stack.add_worker().await;
    assert_correct_answer(waiting).await;
    assert_eq!(every_job_ended_once(&stack).await, 1, "the job is submitted again under the same id");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_gets_its_answer_after_a_crash_during_the_claim() {
    killed_at(Seam::Claim).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_gets_its_answer_after_a_crash_during_the_write_of_the_outcome() {
    killed_at(Seam::Finish).await; // the job has run, but its outcome is not committed
}

async fn killed_at(seam: Seam) {
    let cluster = Cluster::own();
    let stack = start(&cluster, 1).await;
    let mut held = seam.hold(&stack.db).await;
    let waiting = wait_for_answer(&stack);
    held.holds(1).await;
    restart(&cluster).await;
    assert_correct_answer(waiting).await;
    assert_eq!(every_job_ended_once(&stack).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_gets_its_answer_after_a_crash_before_the_outcome_was_read() {
    let cluster = Cluster::own();
    let stack = start(&cluster, 1).await;
    let held = Seam::Finish.hold(&stack.db).await;
    let waiting = wait_for_answer(&stack);
    stack.jobs_are(1, "running").await;
    stack.api.signal(Signal::STOP); // so that it does not read the outcome
    held.release().await;
    stack.jobs_are(1, "succeeded").await;
    restart(&cluster).await;
    stack.api.signal(Signal::CONT);
    assert_correct_answer(waiting).await;
    wait_for_all_jobs(&stack).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acknowledged_job_and_its_outcome_survive() {
    let cluster = Cluster::own();
    let mut stack = start(&cluster, 0).await;
    let job = submit(&stack).await;
    restart(&cluster).await;
    stack.job_is(job, "queued").await;
    stack.add_worker().await;
    stack.job_is(job, "succeeded").await;
    restart(&cluster).await;
    let state: String = stack.row("select state from jobs where id = $1", job).await;
    assert_eq!(state, "succeeded", "an outcome that the caller had read was lost");
    let label = stack.get(&format!("/v1/jobs/{job}/result")).await.predictions()[0].0.clone();
    assert_eq!(label, digit().label);
    assert_eq!(every_job_ended_once(&stack).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_wait_became_a_202_survives() {
    let cluster = Cluster::own();
    let mut stack = start(&cluster, 0).await;
    let image = digit();
    let request = stack.post(image.operation, &Form::upload(&image.bytes)).header("prefer", "wait=1");
    let job = send(request).await.job();
    restart(&cluster).await;
    stack.job_is(job, "queued").await;
    stack.add_worker().await;
    stack.job_is(job, "succeeded").await;
    restart(&cluster).await;
    let state: String = stack.row("select state from jobs where id = $1", job).await;
    assert_eq!(state, "succeeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_becomes_a_202_after_a_crash_names_a_job_that_exists() {
    let cluster = Cluster::own();
    let mut stack = start(&cluster, 0).await;
    let image = digit();
    let request = stack.post(image.operation, &Form::upload(&image.bytes)).header("prefer", "wait=8");
    let waiting = tokio::spawn(send(request));
    stack.jobs_are(1, "queued").await;
    restart(&cluster).await;
    let job = waiting.await.expect("no panic").job();
    stack.job_is(job, "queued").await;
    stack.add_worker().await;
    stack.job_is(job, "succeeded").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_acknowledged_cancellation_survives() {
    let cluster = Cluster::own();
    let stack = start(&cluster, 0).await;
    let job = submit(&stack).await;
    let answer = send(stack.request("DELETE", &format!("/v1/jobs/{job}"))).await;
    assert_eq!(answer.status, 200);
    restart(&cluster).await;
    let state: String = stack.row("select state from jobs where id = $1", job).await;
    assert_eq!(state, "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_caller_gets_one_correct_answer_when_postgres_is_killed_under_load() {
    let cluster = Cluster::own();
    let stack = start(&cluster, 2).await;
    let image = digit();
    let mut acknowledged: Vec<Uuid> = Vec::new();
    for _ in 0..2 {
        let load = Load::start(&stack, 8, image.operation, &image.bytes);
        acknowledged.push(submit(&stack).await);
        let n = n_succeeded(&stack).await;
        until("30 more jobs succeeded", async || (n_succeeded(&stack).await > n + 30).then_some(())).await;
        restart(&cluster).await;
        let sent = load.stop().await;
        let counts = statuses(&sent);
        assert!(counts.keys().all(|status| matches!(status, 200 | 503)), "{counts:?}");
        for request in sent {
            let answer = request.answer.expect("`statuses` has checked it");
            if answer.status == 200 {
                assert_eq!(answer.predictions()[0].0, image.label);
            }
        }
        wait_for_all_jobs(&stack).await;
    }
    for job in acknowledged {
        stack.job_is(job, "succeeded").await;
    }
}
