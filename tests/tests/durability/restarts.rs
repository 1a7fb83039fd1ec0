//! Postgres restarts while requests come in, with a normal stop or as in a crash.

use std::time::Duration;

use akhar_tests::{Cluster, Process, Stack, load::Load, until};
use rustix::process::Signal;

use crate::{digit, every_job_ended_once, record_ends, statuses};

#[tokio::test(flavor = "multi_thread")]
async fn a_fast_restart_of_postgres_loses_no_job() {
    restart_under_load(Signal::INT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_of_postgres_loses_no_job() {
    restart_under_load(Signal::QUIT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_outage_of_postgres_does_not_make_live_workers_count_as_dead() {
    let cluster = Cluster::own();
    let stack = start(&cluster).await;
    // There is a heartbeat every second. A worker counts as dead when three are missing.
    let n_missed = |worker: &Process| worker.log().iter().filter(|l| l.contains("heartbeat failed")).count();
    let outage = async || {
        cluster.stop(Signal::QUIT).await;
        until("both workers missed five heartbeats", async || {
            stack.workers.iter().all(|worker| n_missed(worker) > 4).then_some(())
        })
        .await;
        cluster.start_again().await;
    };
    under_load(&stack, outage).await;
    let n: i64 = sqlx::query_scalar("select count(*) from jobs where attempt > 2 or state = 'failed'")
        .fetch_one(&stack.db)
        .await
        .expect("a count");
    assert_eq!(n, 0, "jobs were taken from live workers several times");
}

async fn restart_under_load(signal: Signal) {
    let cluster = Cluster::own();
    let stack = start(&cluster).await;
    under_load(&stack, async || {
        cluster.stop(signal).await;
        cluster.start_again().await;
    })
    .await;
}

async fn start(cluster: &Cluster) -> Stack {
    let stack = Stack::with().on(cluster).workers(2).set("AKHAR_QUICK_WAIT_S", 20).start().await;
    record_ends(&stack.db).await;
    stack
}

/// Runs `event` while clients send requests. Checks that every answer is a 200, or a 503 with Retry-After,
/// and that no job is lost.
async fn under_load(stack: &Stack, event: impl AsyncFnOnce()) {
    let image = digit();
    let load = Load::start(stack, 4, image.operation, &image.bytes);
    let n_ended = async || -> i64 {
        sqlx::query_scalar("select count(*) from ends").fetch_one(&stack.db).await.unwrap_or_default()
    };
    until("20 jobs ended", async || (n_ended().await > 20).then_some(())).await;
    event().await;
    let n = until("the database answers again", async || Some(n_ended().await).filter(|n| *n > 0)).await;
    until("jobs end again", async || (n_ended().await > n + 20).then_some(())).await;
    let sent = load.stop().await;
    let counts = statuses(&sent);
    assert!(counts.keys().all(|status| matches!(status, 200 | 503)), "{counts:?}");
    for request in sent {
        let answer = request.answer.expect("`statuses` has checked it");
        if answer.status == 503 {
            assert!(!answer.header("retry-after").is_empty(), "a 503 has Retry-After");
        }
        assert!(request.took < Duration::from_secs(20), "the answer took {:?}", request.took);
    }
    every_job_ended_once(stack).await;
}
