//! kill -9, at each seam of a job's life and under load.

use std::time::{Duration, Instant};

use akhar_jobs::{Fence, JobId, store};
use akhar_tests::{Form, Held, Seam, Stack, http::send, load::Load, until};
use rustix::process::Signal;
use sqlx::PgPool;
use uuid::Uuid;

use crate::{claim, digit, end, every_job_ended_once, record_ends, statuses, submit};

/// What the issue promises for quick jobs: 3 s of silence, the sweep's second, and the job itself.
const RECOVERY: Duration = Duration::from_secs(5);

/// Waits until the job has succeeded, within [`RECOVERY`] of `since`.
async fn recovers(stack: &Stack, job: Uuid, since: Instant) {
    stack.job_is(job, "succeeded").await;
    let took = since.elapsed();
    println!("recovered within {took:?}");
    assert!(took <= RECOVERY, "finished {took:?} after its worker died");
    assert_eq!(every_job_ended_once(stack).await, 1);
    let result = stack.get(&format!("/v1/jobs/{job}/result")).await.predictions();
    assert_eq!(result[0].0, digit().label);
}

/// Two workers, a job stuck in the hands of the first, and the second ready to take over.
async fn stuck_at(seam: Seam) -> (Stack, Held, Uuid) {
    let mut stack = Stack::start().await;
    record_ends(&stack.db).await;
    let mut held = seam.hold(&stack.db).await;
    let job = submit(&stack).await;
    held.holds(1).await;
    stack.add_worker().await;
    (stack, held, job)
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_claims_a_job_another_worker_does_it() {
    let (mut stack, mut held, job) = stuck_at(Seam::Claim).await;
    stack.workers[0].kill().await;
    let died = Instant::now();
    held.disconnect().await;
    held.release().await;
    recovers(&stack, job, died).await;
    let attempt: i32 = stack.row("select attempt from jobs where id = $1", job).await;
    assert_eq!(attempt, 1, "a claim that was never committed is none");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_infers_another_worker_does_it() {
    let mut stack = Stack::with().workers(0).start().await;
    record_ends(&stack.db).await;
    let job = submit(&stack).await;
    // A worker that claims a job and is never heard of again.
    store::beat(&stack.db, "dead-worker").await.expect("a beat");
    let fence = claim(&stack.db, "dead-worker").await.expect("it is queued");
    assert_eq!(fence, Fence { job: JobId(job), attempt: 1 });
    stack.add_worker().await;
    store::beat(&stack.db, "dead-worker").await.expect("its last beat");
    recovers(&stack, job, Instant::now()).await;
    let late = end(&stack.db, fence, "late").await;
    assert!(!late, "the dead worker's answer came after all, and counted");
    let attempt: i32 = stack.row("select attempt from jobs where id = $1", job).await;
    assert_eq!(attempt, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_it_writes_its_answer_another_worker_does_it() {
    let (mut stack, mut held, job) = stuck_at(Seam::Finish).await;
    stack.workers[0].kill().await;
    let died = Instant::now();
    held.disconnect().await;
    held.release().await;
    recovers(&stack, job, died).await;
    let attempt: i32 = stack.row("select attempt from jobs where id = $1", job).await;
    assert_eq!(attempt, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_with_its_answer_on_the_way_the_answer_counts_once() {
    let (mut stack, held, job) = stuck_at(Seam::Finish).await;
    stack.workers[0].kill().await;
    held.release().await; // the statement had arrived: Postgres finishes it
    stack.job_is(job, "succeeded").await;
    let attempt: i32 = stack.row("select attempt from jobs where id = $1", job).await;
    assert_eq!(attempt, 1);
    assert_eq!(every_job_ended_once(&stack).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_announcement_that_is_lost_is_not_missed() {
    let stack = Stack::start().await;
    let image = digit();
    stack.recognise(image.operation, &image.bytes).await.predictions();
    let mut held = Seam::Finish.hold(&stack.db).await;
    let waiting = tokio::spawn(send(stack.post(image.operation, &Form::upload(&image.bytes))));
    held.holds(1).await;
    // Stopped and cut off, the api hears nothing when the job ends.
    stack.api.signal(Signal::STOP);
    assert!(disconnect_listeners(&stack.db).await > 0);
    held.release().await;
    stack.jobs_are(2, "succeeded").await;
    stack.api.signal(Signal::CONT);
    assert_eq!(waiting.await.expect("no panic").predictions()[0].0, image.label);
    for _ in 0..5 {
        disconnect_listeners(&stack.db).await;
        stack.recognise(image.operation, &image.bytes).await.predictions();
    }
}

/// Ends every connection that listens; how many there were.
async fn disconnect_listeners(db: &PgPool) -> i64 {
    sqlx::query_scalar(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and query ilike 'listen%'",
    )
    .fetch_one(db)
    .await
    .expect("they end")
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_under_load_every_request_is_answered_once() {
    let mut stack = Stack::with().workers(2).start().await;
    record_ends(&stack.db).await;
    let image = digit();
    let load = Load::start(&stack, 8, image.operation, &image.bytes);
    // A kill may fall between two jobs; a few kills do not all do so.
    let mut n_kills = 0;
    while count(&stack.db, "select count(*) from ends where attempt > 1").await == 0 {
        assert!(n_kills < 10, "no kill hit a job");
        let n = count_ends(&stack.db).await;
        until("the load goes on", async || (count_ends(&stack.db).await > n + 20).then_some(())).await;
        stack.workers.remove(0).kill().await;
        n_kills += 1;
        stack.add_worker().await;
        until("nothing is left in dead hands", async || (n_in_dead_hands(&stack).await == 0).then_some(()))
            .await;
    }
    let sent = load.stop().await;
    let counts = statuses(&sent);
    assert_eq!(counts.keys().collect::<Vec<_>>(), [&200], "{counts:?}");
    assert_eq!(every_job_ended_once(&stack).await, i64::try_from(sent.len()).expect("few"));
}

/// Jobs that run in the name of a worker that is gone.
async fn n_in_dead_hands(stack: &Stack) -> i64 {
    let alive: Vec<String> = stack.workers.iter().map(|w| format!("%-{}-%", w.id())).collect();
    sqlx::query_scalar("select count(*) from jobs where state = 'running' and worker not like all($1)")
        .bind(alive)
        .fetch_one(&stack.db)
        .await
        .expect("a count")
}

async fn count_ends(db: &PgPool) -> i64 {
    count(db, "select count(*) from ends").await
}

async fn count(db: &PgPool, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(db).await.expect(query)
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_that_cannot_be_heard_do_not_bury_each_other() {
    let mut stack = Stack::with().workers(0).start().await;
    let job = submit(&stack).await;
    store::beat(&stack.db, "living").await.expect("a beat");
    claim(&stack.db, "living").await.expect("it is queued");
    stack.add_worker().await;
    // As when Postgres stands still, or is back and beats still wait for a connection: none comes through.
    let mut deaf = stack.db.begin().await.expect("a transaction");
    store::beat(&stack.db, "living").await.expect("a beat");
    sqlx::query("lock table workers in share mode").execute(&mut *deaf).await.expect("a lock");
    until("all have been silent for six seconds", async || {
        let silent: bool =
            sqlx::query_scalar("select bool_and(seen_at < clock_timestamp() - interval '6 s') from workers")
                .fetch_one(&mut *deaf)
                .await
                .expect("a look");
        silent.then_some(())
    })
    .await;
    stack.job_is(job, "running").await;
    deaf.rollback().await.expect("an end");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_that_a_crash_of_postgres_forgot_is_made_again() {
    let mut stack = Stack::start().await;
    record_ends(&stack.db).await;
    let mut held = Seam::Finish.hold(&stack.db).await;
    let job = submit(&stack).await;
    held.holds(1).await;
    // The worker stands still while its connection ends and its claim, not yet on disk, is undone.
    stack.workers[0].signal(Signal::STOP);
    held.disconnect().await;
    sqlx::query(
        "update jobs set state = 'queued', worker = null, attempt = 0, started_at = null where id = $1",
    )
    .bind(job)
    .execute(&stack.db)
    .await
    .expect("the claim is forgotten");
    held.release().await;
    stack.workers[0].signal(Signal::CONT);
    recovers(&stack, job, Instant::now()).await;
    stack.workers.clear();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_never_finish_one_job_twice() {
    let stack = Stack::with().workers(2).start().await;
    record_ends(&stack.db).await;
    let image = digit();
    let load = Load::start(&stack, 8, image.operation, &image.bytes);
    until("150 jobs ended", async || (count_ends(&stack.db).await >= 150).then_some(())).await;
    let sent = load.stop().await;
    assert_eq!(statuses(&sent).into_keys().collect::<Vec<_>>(), [200]);
    assert_eq!(every_job_ended_once(&stack).await, i64::try_from(sent.len()).expect("few"));
    let n: i64 = sqlx::query_scalar("select count(*) from ends where attempt <> 1")
        .fetch_one(&stack.db)
        .await
        .expect("a count");
    assert_eq!(n, 0, "claimed twice without a crash");
}
