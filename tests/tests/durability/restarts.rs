//! Postgres restarts, politely and as in a crash, while requests come in.

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
async fn an_outage_longer_than_a_workers_silence_does_not_make_the_living_dead() {
    let cluster = Cluster::own();
    let stack = start(&cluster).await;
    // There is a beat every second; a worker that missed three counts as dead.
    let n_missed = |worker: &Process| worker.log().iter().filter(|l| l.contains("heartbeat failed")).count();
    let outage = async || {
        cluster.stop(Signal::QUIT).await;
        until("both missed five beats", async || {
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
    assert_eq!(n, 0, "jobs were taken from living workers, again and again");
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

/// Lets something happen while clients send: all are answered 200 or an honest 503, and no job is lost.
async fn under_load(stack: &Stack, happening: impl AsyncFnOnce()) {
    let image = digit();
    let load = Load::start(stack, 4, image.operation, &image.bytes);
    let n_ended = async || -> i64 {
        sqlx::query_scalar("select count(*) from ends").fetch_one(&stack.db).await.unwrap_or_default()
    };
    until("the load is under way", async || (n_ended().await > 20).then_some(())).await;
    happening().await;
    let n = until("the database is back", async || Some(n_ended().await).filter(|n| *n > 0)).await;
    until("jobs end again", async || (n_ended().await > n + 20).then_some(())).await;
    let sent = load.stop().await;
    let counts = statuses(&sent);
    assert!(counts.keys().all(|status| matches!(status, 200 | 503)), "{counts:?}");
    for request in sent {
        let answer = request.answer.expect("looked at above");
        if answer.status == 503 {
            assert!(!answer.header("retry-after").is_empty(), "a 503 says when to come back");
        }
        assert!(request.took < Duration::from_secs(20), "held for {:?}", request.took);
    }
    every_job_ended_once(stack).await;
}
