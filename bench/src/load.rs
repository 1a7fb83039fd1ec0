//! Closed loops on the whole service: throughput, the same under kills, and memory.

use std::time::{Duration, Instant};

use akhar_tests::{Cluster, Form, Process, Stack, images::fixture_of, until};

use crate::{
    clients::{Fate, closed_loop, send, statuses},
    report::{Report, count, quantiles},
};

/// Requests before anything is measured: connections open, caches fill.
const WARM_UP: usize = 50;

/// A stack with the product's own defaults, warm.
pub(crate) async fn warm_stack(cluster: &Cluster) -> (Stack, reqwest::RequestBuilder) {
    let stack = Stack::with().on(cluster).set("AKHAR_DATABASE_CONNECTIONS", 20).start().await;
    let image = fixture_of("੫");
    let request = stack.post(image.operation, &Form::upload(&image.bytes));
    for _ in 0..WARM_UP {
        let fate = send(request.try_clone().expect("bytes")).await;
        assert_eq!(fate.status, Some(200), "the warm-up fails");
    }
    (stack, request)
}

fn fill(report: &mut Report, name: &str, fates: &[Fate], seconds: u64) {
    let times: Vec<Duration> = fates.iter().map(|f| f.took).collect();
    let good = fates.iter().filter(|f| f.status == Some(200)).count();
    let mut row = vec![("per_s", count(good) / Duration::from_secs(seconds).as_secs_f64())];
    row.extend(quantiles(&times));
    row.push(("errors", count(fates.len() - good)));
    report.row(name, row);
    let bad: Vec<_> = statuses(fates).into_iter().filter(|(status, _)| *status != 200).collect();
    if !bad.is_empty() {
        println!("answers that were not 200 (0: none came): {bad:?}");
    }
}

/// Throughput and response times.
pub(crate) async fn load(seconds: u64, clients: usize) -> Report {
    let cluster = Cluster::own();
    let (_stack, request) = warm_stack(&cluster).await;
    let end = Instant::now() + Duration::from_secs(seconds);
    let fates = closed_loop(&request, clients, end).await;
    let about = format!("{clients} closed-loop clients, {seconds} s, one worker, durable commits");
    let mut report = Report::new("load", about);
    fill(&mut report, "digit-recognition", &fates, seconds);
    report
}

/// The same with kill -9 of the one worker every so often; fails when a job is lost or ends twice.
pub(crate) async fn chaos(seconds: u64, clients: usize, every: u64) -> Report {
    let cluster = Cluster::own();
    let (mut stack, request) = warm_stack(&cluster).await;
    let statement = "create table ends (job_id uuid not null);
        create function record_end() returns trigger language plpgsql as
        $$ begin insert into ends values (new.id); return null; end $$;
        create trigger record_end after update on jobs for each row
        when (new.state in ('succeeded', 'failed', 'cancelled')) execute function record_end();";
    sqlx::raw_sql(statement).execute(&stack.db).await.expect("a record of ends");
    let started = Instant::now();
    let end = started + Duration::from_secs(seconds);
    let load = tokio::spawn(async move { closed_loop(&request, clients, end).await });
    let mut n_kills = 0_u32;
    let mut kills = tokio::time::interval(Duration::from_secs(every));
    kills.tick().await;
    while Instant::now() + Duration::from_secs(every) < end {
        kills.tick().await;
        let mut worker = stack.workers.remove(0);
        worker.kill().await;
        stack.add_worker().await;
        n_kills += 1;
    }
    let fates = load.await.expect("no panic");
    let about =
        format!("the same with the one worker killed (-9) and restarted every {every} s, {n_kills} times");
    let mut report = Report::new("chaos", about);
    fill(&mut report, "digit-recognition", &fates, seconds);
    account(&mut report, &stack, fates.len()).await;
    report
}

/// Checks the books: every request a job, every job ended once.
async fn account(report: &mut Report, stack: &Stack, n_sent: usize) {
    let scalar = async |query: &'static str| -> i64 {
        sqlx::query_scalar(query).fetch_one(&stack.db).await.expect(query)
    };
    until("no job is under way", async || {
        (scalar("select count(*) from jobs where state in ('queued', 'running')").await == 0).then_some(())
    })
    .await;
    let n_jobs = scalar("select count(*) from jobs").await - i64::try_from(WARM_UP).unwrap_or(0);
    let n_sent = i64::try_from(n_sent).unwrap_or(i64::MAX);
    let n_lost = n_sent - scalar("select count(distinct job_id) from ends").await;
    let n_twice =
        scalar("select count(*) from (select from ends group by job_id having count(*) > 1) t").await;
    let n_failed = scalar("select count(*) from jobs where state <> 'succeeded'").await;
    let number = |n: i64| f64::from(i32::try_from(n).unwrap_or(i32::MAX));
    let mut row = vec![
        ("jobs", number(n_jobs)),
        ("lost", number(n_lost)),
        ("ended_twice", number(n_twice)),
        ("failed", number(n_failed)),
    ];
    row.push(("claimed_once", number(scalar("select count(*) from jobs where attempt = 1").await)));
    row.push(("claimed_twice", number(scalar("select count(*) from jobs where attempt = 2").await)));
    row.push(("claimed_thrice", number(scalar("select count(*) from jobs where attempt > 2").await)));
    let longest = "select coalesce(max(extract(epoch from ended_at - created_at) * 1000)::bigint, 0) from jobs where attempt > 1";
    row.push(("longest_recovery_ms", number(scalar(longest).await)));
    report.row("jobs table", row);
    assert_eq!((n_jobs, n_lost, n_twice), (n_sent, 0, 0), "jobs were lost or ended twice");
}

/// Memory of both processes.
pub(crate) async fn memory(seconds: u64) -> Report {
    let cluster = Cluster::own();
    let (stack, request) = warm_stack(&cluster).await;
    let mut report =
        Report::new("memory", format!("resident memory; load is 32 closed-loop clients for {seconds} s"));
    let mut rows = |when: &str| {
        for (what, process) in [("api", &stack.api), ("worker", &stack.workers[0])] {
            report.row(&format!("{what}, {when}"), memory_of(process));
        }
    };
    rows("warm");
    closed_loop(&request, 32, Instant::now() + Duration::from_secs(seconds)).await;
    rows("after load");
    report
}

fn memory_of(process: &Process) -> Vec<(&'static str, f64)> {
    let (now, peak) = process.memory_kib();
    let mib = |kib: u64| f64::from(u32::try_from(kib).unwrap_or(u32::MAX)) / 1024.0;
    vec![("rss_mib", mib(now)), ("peak_mib", mib(peak))]
}
