//! A worker is killed (-9) at each step of a job and under load.

use std::time::{Duration, Instant};

use akhar_jobs::{Fence, JobId, store};
use akhar_platform::database::Pool;
use akhar_tests::{Form, Held, Seam, Stack, http::send, load::Load, until};
use rustix::process::Signal;
use serde_json::json;
use sqlx::Connection as _;
use tokio::time::interval;
use uuid::Uuid;

use crate::{claim, digit, end, every_job_ended_once, record_ends, statuses, submit};

/// The longest recovery of a quick job: 3 s until its worker counts as dead, 1 s until the next sweep, 1 s until a worker looks for
/// jobs if no notification tells it, and the time of the job itself.
const RECOVERY: Duration = Duration::from_secs(6);

/// Waits until the job has succeeded, within [`RECOVERY`] of `since`.
async fn recovers(stack: &Stack, job: Uuid, since: Instant) {
    stack.job_is(job, "succeeded").await;
    let took = since.elapsed();
    println!("recovered within {took:?}");
    assert!(took <= RECOVERY, "the job ended {took:?} after its worker died");
    assert_eq!(every_job_ended_once(stack).await, 1);
    let result = stack.get(&format!("/v1/jobs/{job}/result")).await.predictions();
    assert_eq!(result[0].0, digit().label);
}

/// Two workers. The first one's job is held at the seam, and the second one is ready to take over.
async fn held_at(seam: Seam) -> (Stack, Held, Uuid) {
    let mut stack = Stack::start().await;
    record_ends(&stack.db).await;
    let mut held = seam.hold(&stack.db).await;
    let job = submit(&stack).await;
    held.holds(1).await;
    stack.add_worker().await;
    (stack, held, job)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_killed_while_it_claims_a_job_is_replaced() {
    let (mut stack, mut held, job) = held_at(Seam::Claim).await;
    stack.workers[0].kill().await;
    let died = Instant::now();
    held.disconnect().await;
    held.release().await;
    recovers(&stack, job, died).await;
    let attempt: i32 = stack.row("select attempt from jobs where id = $1", job).await;
    assert_eq!(attempt, 1, "a claim that was not committed does not count");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_killed_while_it_runs_a_job_is_replaced() {
    let mut stack = Stack::with().workers(0).start().await;
    record_ends(&stack.db).await;
    let job = submit(&stack).await;
    // A worker that claims a job and then dies.
    store::beat(&stack.db, "dead-worker", &[]).await.expect("a heartbeat");
    let fence = claim(&stack.db, "dead-worker").await.expect("it is queued");
    assert_eq!(fence, Fence { job: JobId(job), attempt: 1 });
    stack.add_worker().await;
    store::beat(&stack.db, "dead-worker", &[]).await.expect("the last heartbeat");
    recovers(&stack, job, Instant::now()).await;
    let late = end(&stack.db, fence, "late").await;
    assert!(!late, "a late answer of the dead worker counted");
    let attempt: i32 = stack.row("select attempt from jobs where id = $1", job).await;
    assert_eq!(attempt, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_killed_while_it_writes_its_answer_is_replaced() {
    let (mut stack, mut held, job) = held_at(Seam::Finish).await;
    stack.workers[0].kill().await;
    let died = Instant::now();
    held.disconnect().await;
    held.release().await;
    recovers(&stack, job, died).await;
    let attempt: i32 = stack.row("select attempt from jobs where id = $1", job).await;
    assert_eq!(attempt, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_arrives_after_its_worker_was_killed_counts_once() {
    let (mut stack, held, job) = held_at(Seam::Finish).await;
    stack.workers[0].kill().await;
    held.release().await; // Postgres has the statement already, and finishes it
    stack.job_is(job, "succeeded").await;
    let attempt: i32 = stack.row("select attempt from jobs where id = $1", job).await;
    assert_eq!(attempt, 1);
    assert_eq!(every_job_ended_once(&stack).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_translation_whose_worker_is_killed_is_answered() {
    let mut stack = Stack::start().await;
    let text = "ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਚੰਗਾ ਹੈ। ਅਸੀਂ ਬਾਜ਼ਾਰ ਜਾ ਰਹੇ ਹਾਂ।\n".repeat(20);
    let request = stack.request("POST", "/v1/models/translation").json(&json!({"text": text}));
    let waiting = tokio::spawn(send(request));
    stack.jobs_are(1, "running").await;
    stack.workers[0].kill().await;
    stack.add_worker().await;
    let answer = waiting.await.expect("no panic");
    let translation = answer.json()["translation"].as_str().expect("a text").to_owned();
    assert_eq!(translation.lines().count(), 20, "{translation}");
    let job = stack.get(&format!("/v1/jobs/{}", answer.header("akhar-job"))).await.json();
    assert_eq!((&job["attempt"], &job["state"]), (&json!(2), &json!("succeeded")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_announcement_that_is_lost_is_not_missed() {
    let stack = Stack::start().await;
    let image = digit();
    stack.recognise(image.operation, &image.bytes).await.predictions();
    let mut held = Seam::Finish.hold(&stack.db).await;
    let waiting = tokio::spawn(send(stack.post(image.operation, &Form::upload(&image.bytes))));
    held.holds(1).await;
    // The api is stopped and its listening connection ends, so it misses the announcement of the job's end.
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

/// Ends all listening connections. Returns how many there were.
async fn disconnect_listeners(db: &Pool) -> i64 {
    sqlx::query_scalar(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity
         where datname = current_database() and application_name like '% listener'",
    )
    .fetch_one(db)
    .await
    .expect("they end")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_is_answered_once_when_workers_are_killed_under_load() {
    let mut stack = Stack::with().workers(2).start().await;
    record_ends(&stack.db).await;
    let image = digit();
    let load = Load::start(&stack, 8, image.operation, &image.bytes);
    // A single kill can happen between two jobs, so workers are killed until a kill interrupts a job.
    let mut n_kills = 0;
    while count(&stack.db, "select count(*) from ends where attempt > 1").await == 0 {
        assert!(n_kills < 10, "no kill interrupted a job");
        let n = count_ends(&stack.db).await;
        until("the load goes on", async || (count_ends(&stack.db).await > n + 20).then_some(())).await;
        stack.workers.remove(0).kill().await;
        n_kills += 1;
        stack.add_worker().await;
        let none_left = async || (n_jobs_of_dead_workers(&stack).await == 0).then_some(());
        until("dead workers have no running jobs", none_left).await;
    }
    let sent = load.stop().await;
    let counts = statuses(&sent);
    assert_eq!(counts.keys().collect::<Vec<_>>(), [&200], "{counts:?}");
    assert_eq!(every_job_ended_once(&stack).await, i64::try_from(sent.len()).expect("few"));
}

/// The number of running jobs whose worker is dead.
async fn n_jobs_of_dead_workers(stack: &Stack) -> i64 {
    let alive: Vec<String> = stack.workers.iter().map(|w| format!("%-{}-%", w.id())).collect();
    sqlx::query_scalar("select count(*) from jobs where state = 'running' and worker not like all($1)")
        .bind(alive)
        .fetch_one(&stack.db)
        .await
        .expect("a count")
}

async fn count_ends(db: &Pool) -> i64 {
    count(db, "select count(*) from ends").await
}

async fn count(db: &Pool, query: &'static str) -> i64 {
    sqlx::query_scalar(query).fetch_one(db).await.expect(query)
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_whose_heartbeats_do_not_arrive_do_not_declare_each_other_dead() {
    let mut stack = Stack::with().workers(0).start().await;
    let job = submit(&stack).await;
    let db = stack.db.clone();
    let living = tokio::spawn(async move {
        let mut ticks = interval(Duration::from_millis(200));
        loop {
            ticks.tick().await;
            store::beat(&db, "living", &[]).await.expect("a heartbeat");
        }
    });
    claim(&stack.db, "living").await.expect("it is queued");
    stack.add_worker().await;
    // The lock keeps all heartbeats from being written. The same happens when Postgres does not respond, or
    // when heartbeats wait for a connection after a restart.
    let mut of_locking = stack.db.servers().connect().await.expect("a connection");
    let mut locking = of_locking.begin().await.expect("a transaction");
    sqlx::query("lock table workers in share mode").execute(&mut *locking).await.expect("a lock");
    living.abort();
    until("no heartbeat has arrived for six seconds", async || {
        let silent: bool =
            sqlx::query_scalar("select bool_and(seen_at < clock_timestamp() - interval '6 s') from workers")
                .fetch_one(&mut *locking)
                .await
                .expect("an answer");
        silent.then_some(())
    })
    .await;
    stack.job_is(job, "running").await;
    locking.rollback().await.expect("a rollback");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_claim_a_crash_of_postgres_lost_is_claimed_again() {
    let mut stack = Stack::start().await;
    record_ends(&stack.db).await;
    let mut held = Seam::Finish.hold(&stack.db).await;
    let job = submit(&stack).await;
    held.holds(1).await;
    // The worker is stopped while its connection ends and its claim, which is not on disk yet, is undone.
    stack.workers[0].signal(Signal::STOP);
    held.disconnect().await;
    sqlx::query(
        "update jobs set state = 'queued', worker = null, attempt = 0, started_at = null where id = $1",
    )
    .bind(job)
    .execute(&stack.db)
    .await
    .expect("the claim is undone");
    held.release().await;
    stack.workers[0].signal(Signal::CONT);
    recovers(&stack, job, Instant::now()).await;
    stack.workers.clear();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_workers_never_end_the_same_job_twice() {
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
    assert_eq!(n, 0, "a job was claimed twice without a crash");
}
