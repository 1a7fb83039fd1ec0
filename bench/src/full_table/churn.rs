//! The growth of the table while jobs come, end and are deleted, with the product's statements and autovacuum.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use akhar_jobs::{
    FreePlaces, NewJob, Queue,
    store::{self, Ending},
};
use akhar_platform::database::Database;
use akhar_platform::database::Pool;
use akhar_tests::{Cluster, figures::count};

use super::{
    beside_empty,
    size::Size,
    table::{job, succeeded},
};
use crate::{machine::Machine, report::Report, targets};

/// Jobs in one statement.
const AT_A_TIME: usize = 100;

/// The least time between two deletions of old jobs.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// Keeps the newest `n_kept` finished jobs while `n_turnovers` times as many come and end. Then measures the table beside itself
/// without any dead space, and submissions and claims in turns with an empty one.
pub(crate) async fn run(machine: Machine, n_kept: usize, n_turnovers: usize) -> Report {
    let about = format!(
        "{n_turnovers} × {n_kept} jobs are submitted, claimed and ended, {AT_A_TIME} in a statement, while the newest {n_kept} are kept \
         and the others deleted each second; autovacuum looks each second, because days pass in minutes"
    );
    let mut report = Report::new(machine, "churn", about);
    report.machine.rest().await;
    let cluster = Cluster::own();
    cluster.configure(&[("autovacuum_naptime", "1s")]).await;
    let churned = cluster.database().await;
    let db = Database::connect("akhar-bench", churned.clone().into(), 4).await.expect("it answers").pool;
    let n_batches = n_kept.div_ceil(AT_A_TIME);
    // When each batch ended that is kept.
    let mut kept = VecDeque::new();
    let mut swept_at = Instant::now();
    let mut largest = Size::default();
    for turnover in 0..=n_turnovers {
        let began = Instant::now();
        for _ in 0..n_batches {
            batch(&db).await;
            kept.push_back(Instant::now());
            if kept.len() <= n_batches {
                continue;
            }
            let oldest = kept.pop_front().expect("it has more than are kept");
            if swept_at.elapsed() >= SWEEP_INTERVAL {
                swept_at = Instant::now();
                sweep(&db, oldest.elapsed()).await;
            }
        }
        let size = Size::of(&db).await;
        size.report(&mut report, &format!("after {turnover} turnovers"), n_kept);
        println!("  {:.0} jobs a second", count(n_kept) / began.elapsed().as_secs_f64());
        largest = largest.max(size);
    }
    beside_empty(&mut report, "after them", &cluster.database().await, &churned).await;
    sqlx::query("vacuum full jobs").execute(&db).await.expect("a vacuum");
    let compact = Size::of(&db).await;
    for (what, largest, compact) in
        [("table", largest.table, compact.table), ("indexes", largest.indexes, compact.indexes)]
    {
        report.figure(
            format!("largest {what} / without dead space"),
            "MiB",
            largest,
            compact,
            targets::DEAD_SPACE,
        );
    }
    report
}

/// Submits, claims and ends jobs.
async fn batch(db: &Pool) {
    let mut db = db.servers().connect().await.expect("a connection");
    let jobs: Vec<NewJob> = (0..AT_A_TIME).map(|n| job(n % 2 == 0)).collect();
    store::submit(&mut db, &jobs.iter().collect::<Vec<_>>()).await.expect("submissions");
    let places = [FreePlaces::any(Queue::Quick, AT_A_TIME)];
    let claimed = store::claim(&mut db, "bench", &places).await.expect("claims");
    let endings: Vec<Ending> = claimed.into_iter().map(|claimed| succeeded(claimed.fence)).collect();
    assert!(store::end(&mut db, &endings).await.expect("a write").any());
}

/// Deletes jobs that ended longer ago than this.
async fn sweep(db: &Pool, retention: Duration) {
    let now = sqlx::query_scalar("select now()").fetch_one(db).await.expect("the time");
    let clock = store::clock(db, now).await.expect("the clock");
    store::expire(db, &clock, retention, retention).await.expect("a sweep");
}
