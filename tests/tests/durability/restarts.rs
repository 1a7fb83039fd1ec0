//! Postgres restarts, politely and as in a crash, while requests come in.

use std::time::Duration;

use akhar_tests::{Cluster, Stack, load::Load, until};
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

async fn restart_under_load(signal: Signal) {
    let cluster = Cluster::own();
    let stack = Stack::with().on(&cluster).workers(2).set("AKHAR_QUICK_WAIT_S", 20).start().await;
    record_ends(&stack.db).await;
    let image = digit();
    let load = Load::start(&stack, 4, image.operation, &image.bytes);
    let n_ended = async || -> i64 {
        sqlx::query_scalar("select count(*) from ends").fetch_one(&stack.db).await.unwrap_or_default()
    };
    until("the load is under way", async || (n_ended().await > 20).then_some(())).await;
    cluster.restart(signal).await;
    let n = until("the database is back", async || Some(n_ended().await).filter(|n| *n > 0)).await;
    until("jobs end again", async || (n_ended().await > n + 20).then_some(())).await;
    until("stuck?", async || {
        let rows: Vec<(String,)> = sqlx::query_as("select row_to_json(j)::text || ' TICKET ' || coalesce((select string_agg(row_to_json(t)::text, ' & ') from apalis.jobs t where convert_from(t.job,'UTF8') = to_json(j.id::text)::text), 'none') || ' WORKERS ' || (select string_agg(row_to_json(w)::text, ' & ') from workers w) || (select string_agg(w.id || w.last_seen::text, ' & ') from apalis.workers w) from jobs j where state in ('queued','running') and created_at < now() - interval '7 s'").fetch_all(&stack.db).await.unwrap();
        if !rows.is_empty() { panic!("STUCK {rows:?}"); }
        let n: i64 = n_ended().await;
        (n > 700).then_some(())
    }).await;
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
    every_job_ended_once(&stack).await;
}
