//! A hand-written queue as a baseline: one table, SKIP LOCKED and NOTIFY. It is the smallest queue that gives
//! the same answers durably.

pub(crate) mod front;
pub(crate) mod worker;

use akhar_platform::database::Database;
use akhar_tests::{Cluster, Process, cluster::url, stack::base_environment};
use sqlx::postgres::PgConnectOptions;
use tokio::process::Command;

const SCHEMA: &str = "create table baseline_jobs (
        id uuid primary key, image bytea not null, state text not null default 'queued',
        answer text, decode_us integer, infer_us integer);
    create index on baseline_jobs (id) where state = 'queued';";

/// The NOTIFY channel for queued jobs.
const QUEUED: &str = "baseline_queued";
/// The NOTIFY channel for ended jobs. The payload is the job's id.
const ENDED: &str = "baseline_ended";

/// A running hand-written queue: a front end and a worker.
pub(crate) struct Baseline {
    base: String,
    _front: Process,
    _worker: Process,
}

impl Baseline {
    /// Starts both processes on a new database.
    pub(crate) async fn start(cluster: &Cluster) -> Self {
        let options = cluster.empty_database().await;
        let schema = Database::connect("baseline", &options, 4).await.expect("the cluster answers");
        sqlx::raw_sql(SCHEMA).execute(&schema.durable).await.expect("a schema");
        schema.close().await;
        let mut worker = start("baseline-worker", &options);
        let mut front = start("baseline-front", &options);
        assert_eq!(worker.first_line().await, "ready");
        let base = front.first_line().await;
        Self { base, _front: front, _worker: worker }
    }

    /// A request with this image.
    pub(crate) fn request(&self, image: &[u8]) -> reqwest::RequestBuilder {
        akhar_tests::http::client().post(&self.base).body(image.to_vec())
    }
}

fn start(subcommand: &'static str, options: &PgConnectOptions) -> Process {
    let mut command = Command::new(std::env::current_exe().expect("a process knows its own path"));
    command
        .arg(subcommand)
        .env("BASELINE_URL", url(options))
        .envs(base_environment(options))
        .kill_on_drop(true);
    Process::spawn(subcommand, command)
}

/// The database of this process, with durable and asynchronous commits as in the product.
async fn database() -> Database {
    let url = std::env::var("BASELINE_URL").expect("started by `overhead`");
    let options = akhar_platform::database::options(&url).expect("a URL");
    Database::connect("baseline", &options, 20).await.expect("the database answers")
}
