//! Empty jobs through `graphile_worker`, on the Postgres that `PGHOST`, `PGUSER` and `PGDATABASE` name. The arguments and the
//! line that it prints are those of `../queues.mjs`:
//!
//! ```text
//! graphile-worker-queue graphile_worker drain|flow N
//! ```

use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use graphile_worker::{
    IntoTaskHandlerResult, JobSpec, LocalQueueConfig, TaskHandler, Worker, WorkerContext, WorkerOptions,
    WorkerUtils,
};
use serde::{Deserialize, Serialize};
use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::sync::Notify;

/// The number of jobs in one call that adds jobs, and of jobs that run at the same time.
const AT_A_TIME: usize = 100;

/// As many as graphile-worker's documentation says for Node.js.
const N_CONNECTIONS: u32 = 25;

/// A job that does nothing.
#[derive(Debug, Clone, Deserialize, Serialize)]
struct Empty {}

impl TaskHandler for Empty {
    const IDENTIFIER: &'static str = "empty";

    async fn run(self, context: WorkerContext) -> impl IntoTaskHandlerResult {
        context.get_ext::<Left>().expect("set below").less_by_one();
        Ok::<(), String>(())
    }
}

/// The number of jobs that have not run yet.
#[derive(Debug, Clone)]
struct Left(Arc<(AtomicUsize, Notify)>);

impl Left {
    fn new(n: usize) -> Self {
        Self(Arc::new((AtomicUsize::new(n), Notify::new())))
    }

    fn less_by_one(&self) {
        if self.0.0.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.0.1.notify_one();
        }
    }

    async fn none(&self) {
        self.0.1.notified().await;
    }
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = env::args().collect();
    let [_, _, mode, n] = &arguments[..] else { panic!("give a program, drain or flow, and a number") };
    let n: usize = n.parse().expect("a number of jobs");
    let pool = PgPoolOptions::new().max_connections(N_CONNECTIONS);
    let pool = pool.connect_with(PgConnectOptions::new()).await.expect("it answers");
    let left = Left::new(n);
    let worker = Arc::new(worker(&pool, &left).await);
    let utils = worker.create_utils();

    let mut started = Instant::now();
    let mut insert_s = 0.0;
    if mode == "drain" {
        insert_all(&utils, n).await;
        insert_s = started.elapsed().as_secs_f64();
        started = Instant::now();
    }
    let running = tokio::spawn({
        let worker = Arc::clone(&worker);
        async move { worker.run().await }
    });
    if mode == "flow" {
        insert_all(&utils, n).await;
        insert_s = started.elapsed().as_secs_f64();
    }
    left.none().await;
    until_empty(&pool).await;
    let work_s = started.elapsed().as_secs_f64();
    worker.request_shutdown();
    running.await.expect("no panic").expect("it ends well");
    println!("{}", serde_json::json!({ "insert_s": insert_s, "work_s": work_s }));
}

/// The settings for throughput of
/// <https://github.com/leo91000/graphile_worker_rs/blob/main/docs/src/configuration/worker-options.md>: a local queue, and
/// completions that are gathered. The size of the queue is that of graphile-worker's documentation for Node.js, and the time is
/// the shortest that is recommended.
async fn worker(pool: &PgPool, left: &Left) -> Worker {
    let options = WorkerOptions::default()
        .concurrency(AT_A_TIME)
        .local_queue(LocalQueueConfig::default().with_size(500))
        .complete_job_batch_delay(Duration::from_millis(1))
        .fail_job_batch_delay(Duration::from_millis(1))
        .poll_interval(Duration::from_millis(500))
        .listen_os_shutdown_signals(false);
    let options = options.add_extension(left.clone()).define_job::<Empty>().pg_pool(pool.clone());
    options.init().await.expect("its schema is new")
}

async fn insert_all(utils: &WorkerUtils, n: usize) {
    let spec = JobSpec::default();
    for first in (0..n).step_by(AT_A_TIME) {
        let jobs = vec![(Empty {}, &spec); AT_A_TIME.min(n - first)];
        utils.add_jobs(&jobs).await.expect("all are accepted");
    }
}

/// Waits until all jobs have ended in the database.
async fn until_empty(pool: &PgPool) {
    let left = "select count(*) from graphile_worker.jobs";
    while sqlx::query_scalar::<_, i64>(left).fetch_one(pool).await.expect("a count") > 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
