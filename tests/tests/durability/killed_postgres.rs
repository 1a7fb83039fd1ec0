//! Postgres is killed (-9) between each pair of steps of a job: whoever waits gets one right answer, and what
//! a caller was told of is kept. The server flushes as late as it can, so that a commit that nobody waited for is lost.

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

/// A caller that waits for its answer.
fn wait_for_answer(stack: &Stack) -> JoinHandle<Answer> {
    let image = digit();
    tokio::spawn(send(stack.post(image.operation, &Form::upload(&image.bytes))))
}

async fn restart(cluster: &Cluster) {
    cluster.kill().await;
    cluster.start_again().await;
}

async fn is_answered_rightly(waiting: JoinHandle<Answer>) {
    assert_eq!(waiting.await.expect("no panic").predictions()[0].0, digit().label);
}

async fn n_succeeded(stack: &Stack) -> i64 {
    let count = sqlx::query_scalar("select count(*) from jobs where state = 'succeeded'");
    count.fetch_one(&stack.db).await.expect("a count")
}

/// Nothing runs or waits for ever; what is left ended once.
async fn nothing_is_left_under_way(stack: &Stack) {
    until("no job is under way", async || {
        let n: i64 = sqlx::query_scalar("select count(*) from jobs where state in ('queued', 'running')")
            .fetch_one(&stack.db)
            .await
            .ok()?;
        (n == 0).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_a_submission_its_caller_gets_its_answer() {
    let cluster = Cluster::own();
    let mut stack = start(&cluster, 0).await;
    let waiting = wait_for_answer(&stack);
    stack.jobs_are(1, "queued").await;
    restart(&cluster).await;
    stack.add_worker().await;
    is_answered_rightly(waiting).await;
    assert_eq!(every_job_ended_once(&stack).await, 1, "submitted again under the same id");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_a_job_is_claimed_its_caller_gets_its_answer() {
    killed_at(Seam::Claim).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_a_claim_its_caller_gets_its_answer() {
    killed_at(Seam::Finish).await; // the job is claimed and worked, its end not written
}

async fn killed_at(seam: Seam) {
    let cluster = Cluster::own();
    let stack = start(&cluster, 1).await;
    let mut held = seam.hold(&stack.db).await;
    let waiting = wait_for_answer(&stack);
    held.holds(1).await;
    restart(&cluster).await;
    is_answered_rightly(waiting).await;
    assert_eq!(every_job_ended_once(&stack).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_after_an_outcome_before_it_is_read_its_caller_gets_one() {
    let cluster = Cluster::own();
    let stack = start(&cluster, 1).await;
    let held = Seam::Finish.hold(&stack.db).await;
    let waiting = wait_for_answer(&stack);
    stack.jobs_are(1, "running").await;
    stack.api.signal(Signal::STOP); // it reads nothing
    held.release().await;
    stack.jobs_are(1, "succeeded").await;
    restart(&cluster).await;
    stack.api.signal(Signal::CONT);
    is_answered_rightly(waiting).await;
    nothing_is_left_under_way(&stack).await;
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
    assert_eq!(state, "succeeded", "its outcome was told of, and lost");
    let label = stack.get(&format!("/v1/jobs/{job}/result")).await.predictions()[0].0.clone();
    assert_eq!(label, digit().label);
    assert_eq!(every_job_ended_once(&stack).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_becomes_a_202_is_kept_like_any_acknowledged_job() {
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
async fn a_wait_over_after_a_crash_lost_the_job_is_a_202_of_a_job_that_is_there() {
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
async fn a_cancellation_that_was_told_of_survives() {
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
async fn killed_under_load_every_caller_is_answered_once_and_rightly() {
    let cluster = Cluster::own();
    let stack = start(&cluster, 2).await;
    let image = digit();
    let mut acknowledged: Vec<Uuid> = Vec::new();
    for _ in 0..2 {
        let load = Load::start(&stack, 8, image.operation, &image.bytes);
        acknowledged.push(submit(&stack).await);
        let n = n_succeeded(&stack).await;
        until("the load is under way", async || (n_succeeded(&stack).await > n + 30).then_some(())).await;
        restart(&cluster).await;
        let sent = load.stop().await;
        let counts = statuses(&sent);
        assert!(counts.keys().all(|status| matches!(status, 200 | 503)), "{counts:?}");
        for request in sent {
            let answer = request.answer.expect("looked at above");
            if answer.status == 200 {
                assert_eq!(answer.predictions()[0].0, image.label);
            }
        }
        nothing_is_left_under_way(&stack).await;
    }
    for job in acknowledged {
        stack.job_is(job, "succeeded").await;
    }
}
