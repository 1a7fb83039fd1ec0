//! The clock of the database jumps while jobs run, while they wait and while outcomes are kept.

use std::time::Duration;

use akhar_jobs::{
    NewJob,
    store::{self, Clock, ClockJump},
};
use akhar_platform::database::Pool;
use akhar_tests::{
    Cluster, Form, Stack,
    clock::{make_clock_movable, move_clock},
    http::send,
    speech::recording,
    until,
};
use sqlx::types::chrono::{DateTime, Utc};
use uuid::Uuid;

use crate::{
    queue::{insert, new_job},
    submit,
};

/// How often a worker must have written its heartbeat after a jump, so that it has swept in between.
const N_BEATS: usize = 3;

/// Waits until the only worker has swept.
async fn worker_sweeps(db: &Pool) {
    let seen_at = async || -> String {
        sqlx::query_scalar("select seen_at::text from workers").fetch_one(db).await.expect("one worker")
    };
    for _ in 0..N_BEATS {
        let last = seen_at().await;
        until("the worker writes another heartbeat", async || (seen_at().await != last).then_some(())).await;
    }
}

#[tokio::test]
async fn a_jump_is_no_time_for_a_job_with_a_retention_of_its_own() {
    let db = Pool::new(Cluster::shared().database().await.into(), 10);
    let minute = Duration::from_secs(60);
    for retain_s in [60, 7000, 80_000] {
        insert(&db, &[&NewJob { retain_s: Some(retain_s), ..new_job(true) }]).await;
    }
    let end = "update jobs set state = 'cancelled', ended_at = now() - interval '2 hours' returning now()";
    let now: DateTime<Utc> = sqlx::query_scalar(end).fetch_all(&db).await.expect("an update").remove(0);
    let jump = ClockJump { jumped_from: now - 119 * minute - minute / 2, jumped_to: now - minute / 4 };
    let jumped = Clock { now, jumps: vec![jump] };
    let day = Duration::from_secs(24 * 60 * 60);
    let expire = async |clock: &Clock| store::expire(&db, clock, day, day).await.expect("a deletion");
    assert_eq!(expire(&jumped).await, 0, "45 s have passed");
    let straight = Clock { jumps: Vec::new(), ..jumped };
    assert_eq!((expire(&straight).await, expire(&straight).await), (2, 0), "two hours have passed");
}

async fn submit_long_recording(stack: &Stack) -> Uuid {
    let form = Form::upload(&recording("pa-water.mp3").bytes.repeat(60));
    send(stack.post("speech-recognition", &form).header("prefer", "respond-async")).await.job()
}

/// The job of a request with a key, which is always the same request.
async fn job_of_key(stack: &Stack) -> Uuid {
    let form = Form::upload(&recording("pa-water.mp3").bytes);
    let request = stack.post("speech-recognition", &form).header("idempotency-key", "a-key");
    send(request.header("prefer", "respond-async")).await.job()
}

/// The state of a job, its attempt and how much of its recording is transcribed.
async fn progress(stack: &Stack, job: Uuid) -> (String, i32, Option<f64>) {
    sqlx::query_as("select state, attempt, transcribed_s from jobs where id = $1")
        .bind(job)
        .fetch_one(&stack.db)
        .await
        .expect("the job")
}

#[tokio::test(flavor = "multi_thread")]
async fn jumps_of_the_clock_take_no_running_job_away_and_expire_nothing() {
    let mut stack = Stack::with().workers(0).start().await;
    make_clock_movable(&stack.db).await;
    let [kept, old] = [submit(&stack).await, submit(&stack).await];
    stack.add_worker().await;
    for job in [kept, old] {
        stack.job_is(job, "succeeded").await;
    }
    let of_key = job_of_key(&stack).await;
    let recordings = [submit_long_recording(&stack).await, submit_long_recording(&stack).await];
    for job in recordings {
        stack.job_is(job, "running").await;
    }
    for by in ["1 hour", "1 hour", "1 hour", "48 hours", "10 days"] {
        move_clock(&stack.db, by).await.expect("a jump");
        worker_sweeps(&stack.db).await;
    }
    for job in recordings {
        let (state, attempt, _) = progress(&stack, job).await;
        assert_eq!(attempt, 1, "it was taken away and is {state}");
    }
    // Its retention time is over by any clock. When it is gone, a worker without memory of the jumps has deleted old jobs.
    sqlx::query("update jobs set ended_at = ended_at - interval '9 days' where id = $1")
        .bind(old)
        .execute(&stack.db)
        .await
        .expect("a write");
    stack.add_worker().await;
    until("old jobs are deleted", async || {
        let n: i64 = stack.row("select count(*) from jobs where id = $1", old).await;
        (n == 0).then_some(())
    })
    .await;
    stack.job_is(kept, "succeeded").await;
    assert_eq!(job_of_key(&stack).await, of_key, "the key stands for its job");
    for job in recordings {
        let mut last = progress(&stack, job).await;
        while last.0 != "succeeded" {
            assert_eq!((last.0.as_str(), last.1), ("running", 1), "it was taken away");
            last = until("the recording goes on", async || {
                Some(progress(&stack, job).await).filter(|now| *now != last)
            })
            .await;
        }
        assert_eq!(last.1, 1);
    }
}

/// A job that was returned to its queue while the clock was a day ahead.
#[tokio::test]
async fn a_job_does_not_wait_for_a_time_that_a_wrong_clock_gave_it() {
    let mut stack = Stack::with().workers(0).start().await;
    let job = submit(&stack).await;
    sqlx::query("update jobs set run_at = run_at + interval '1 day'")
        .execute(&stack.db)
        .await
        .expect("a write");
    stack.add_worker().await;
    stack.job_is(job, "succeeded").await;
}

#[tokio::test]
async fn a_worker_deletes_all_old_jobs_however_many_there_are() {
    let mut stack = Stack::start().await;
    let job = submit(&stack).await;
    stack.job_is(job, "succeeded").await;
    sqlx::query(
        "insert into jobs (id, account_id, operation, queue, priority, parameters, state, attempt, max_attempts, request_id, ended_at, outcome)
         select gen_random_uuid(), account_id, operation, queue, priority, parameters, state, attempt, max_attempts, request_id,
             now() - interval '9 days', outcome
         from jobs, generate_series(1, 2500) where id = $1",
    )
    .bind(job)
    .execute(&stack.db)
    .await
    .expect("old jobs");
    stack.add_worker().await; // it deletes what is old some seconds after its start
    until("old jobs are deleted", async || {
        let left = sqlx::query_scalar("select count(*) from jobs").fetch_one(&stack.db).await;
        (left.ok() == Some(1_i64)).then_some(())
    })
    .await;
}
