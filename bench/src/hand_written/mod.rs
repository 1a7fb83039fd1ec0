//! A hand-written queue to compare with: one table, SKIP LOCKED and NOTIFY. It is the smallest queue that gives the same
//! answers durably: it does not repeat failed jobs and does not recover lost ones. A front end and a worker process
//! recognise digits with it (`overhead`).

pub(crate) mod front;
mod table;
pub(crate) mod worker;

use akhar_tests::{Cluster, Process, http::client, stack::base_environment};
use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use tokio::process::Command;

use table::Table;

/// A running hand-written queue: a front end and a worker.
pub(crate) struct Service {
    base: String,
    _processes: [Process; 2],
}

impl Service {
    /// Starts both processes on a new database.
    pub(crate) async fn start(cluster: &Cluster) -> Self {
        let options = cluster.empty_database().await;
        let db = PgPool::connect_with(options.clone()).await.expect("the cluster answers");
        Table::create(&db).await;
        db.close().await;
        let mut worker = start("hand-written-worker", &options);
        let mut front = start("hand-written-front", &options);
        assert_eq!(worker.first_line().await, "ready");
        let base = front.address().await;
        Self { base, _processes: [front, worker] }
    }

    /// A request with this image.
    pub(crate) fn request(&self, image: &[u8]) -> reqwest::RequestBuilder {
        client().post(&self.base).body(image.to_vec())
    }
}

fn start(subcommand: &'static str, options: &PgConnectOptions) -> Process {
    let mut command = Command::new(std::env::current_exe().expect("a process knows its own path"));
    command.arg(subcommand).envs(base_environment(options)).kill_on_drop(true);
    Process::spawn(subcommand, command)
}

/// The table of a process that [`Service::start`] started.
async fn table() -> Table {
    let url = std::env::var("AKHAR_DATABASE_URL").expect("started by `overhead`");
    let options: PgConnectOptions = url.parse().expect("a URL");
    let db = PgPoolOptions::new().max_connections(20).connect_lazy_with(options.clone());
    let claims = PgPool::connect_lazy_with(options.options([("synchronous_commit", "off")]));
    Table { db, claims }
}
