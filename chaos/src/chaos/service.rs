//! The service under test: its own Postgres and folder of models, two apis and two workers. Each of these processes has a
//! proxy of its own in front of Postgres, and each api another proxy in front of it.

use std::{array, path::PathBuf};

use akhar_tests::{
    Cluster, Process, Proxy, Stack, clock::make_clock_movable, ends::record_ends, hostile::HostileProxy,
    uploads::S3Server,
};
use clap::ValueEnum;

use super::{disk, schedule::Fault};

/// The apis and the workers.
pub(super) const N_APIS: usize = 2;
pub(super) const N_WORKERS: usize = 2;

/// `AKHAR_MAX_UPLOAD_BYTES`: its default, and what it must be for each socket of one account.
const MAX_UPLOAD_BYTES: u64 = 128 * 1024 * 1024;
const UPLOAD_BYTES_OF_A_SOCKET: u64 = 3 * 1024 * 1024;

/// Where the service keeps uploads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UploadStore {
    /// In the database.
    Postgres,
    /// All of them in a bucket of an S3 server, behind a proxy.
    S3,
}

/// The S3 server, and the proxies in front of it.
#[derive(Debug)]
pub(super) struct Bucket {
    pub(super) server: S3Server,
    pub(super) proxy: Proxy,
    /// Stands between the other proxy and the server.
    pub(super) hostile: HostileProxy,
}

/// The running service.
#[derive(Debug)]
pub(super) struct Service {
    /// The servers of the database. The last one works; the others have failed, and the folder of the first one is that of the
    /// processes.
    pub(super) clusters: Vec<Cluster>,
    /// The first api, the workers, and connections to Postgres itself, whose clock can be moved.
    pub(super) stack: Stack,
    /// A key of an operator.
    pub(super) operator_key: String,
    pub(super) second_api: Process,
    /// The surroundings of the apis and then of the workers.
    pub(super) surroundings: [Surroundings; N_APIS + N_WORKERS],
    /// The addresses of the apis.
    pub(super) bases: [String; N_APIS],
    /// The proxies in front of the apis, and their addresses.
    pub(super) to_apis: [(Proxy, String); N_APIS],
    /// `None` if uploads are in the database.
    pub(super) bucket: Option<Bucket>,
}

/// What a process has of its own.
#[derive(Debug)]
pub(super) struct Surroundings {
    pub(super) to_database: Proxy,
    folder: PathBuf,
}

impl Service {
    /// Starts the service, with memory for so many live sessions. The apis answer and the workers are ready when this returns.
    pub(super) async fn start(store: UploadStore, n_speakers: u16) -> Self {
        let cluster = Cluster::own();
        let (bucket, settings) = match store {
            UploadStore::Postgres => (None, Vec::new()),
            UploadStore::S3 => {
                let (bucket, settings) = Bucket::start().await;
                (Some(bucket), settings)
            }
        };
        let surroundings: [_; N_APIS + N_WORKERS] = array::from_fn(|nth| Surroundings::new(&cluster, nth));
        let [first, second, workers @ ..] = &surroundings;
        let builder = Stack::with().on(&cluster).socket(&first.folder).workers(0).settings(settings);
        let builder = builder.set("AKHAR_SPEECH_WAIT_S", 60);
        let builder = builder.set(
            "AKHAR_MAX_UPLOAD_BYTES",
            MAX_UPLOAD_BYTES.max(u64::from(n_speakers) * UPLOAD_BYTES_OF_A_SOCKET),
        );
        let mut stack = builder.start().await;
        record_ends(&stack.db).await;
        make_clock_movable(&stack.db).await;
        let (second_api, second_base) = stack.start_api_with(&second.settings(&stack)).await;
        for worker in workers {
            stack.add_worker_with(&worker.settings(&stack)).await;
        }
        let bases = [stack.base.clone(), second_base];
        let to_api =
            async |base: &str| Proxy::tcp(base.trim_start_matches("http://")).await.expect("a proxy");
        let to_apis = [to_api(&bases[0]).await, to_api(&bases[1]).await];
        let operator_key = stack.keys(&["create", "--name", "operator", "--role", "admin"]).await;
        Self {
            clusters: vec![cluster],
            stack,
            operator_key,
            second_api,
            surroundings,
            bases,
            to_apis,
            bucket,
        }
    }

    /// The apis and then the workers.
    pub(super) fn processes(&self) -> impl Iterator<Item = &Process> {
        [&self.stack.api, &self.second_api].into_iter().chain(&self.stack.workers)
    }

    /// The faults that cannot happen here, and why.
    pub(super) fn impossible(&self) -> Vec<(Fault, String)> {
        let mut impossible = Vec::new();
        if let Some(why) = disk::why_not(self.clusters[0].folder()) {
            impossible.push((Fault::FillDisk, why));
        }
        impossible
    }
}

impl Surroundings {
    fn new(cluster: &Cluster, nth: usize) -> Self {
        let folder = cluster.folder().join(format!("process-{nth}"));
        let to_database = Proxy::to_postgres(&folder, cluster).expect("a proxy");
        Self { to_database, folder }
    }

    /// The settings of a process of this stack with these surroundings.
    fn settings(&self, stack: &Stack) -> Vec<(String, String)> {
        vec![stack.database_through(&self.folder)]
    }
}

impl Bucket {
    /// Starts an S3 server. Also returns the settings of a service that keeps all uploads there.
    async fn start() -> (Self, Vec<(String, String)>) {
        let server = S3Server::start().await;
        let hostile = HostileProxy::start(&server.address).await;
        let target = hostile.address.trim_start_matches("http://");
        let (proxy, proxied) = Proxy::tcp(target).await.expect("a proxy");
        let mut settings = S3Server::settings(&format!("http://{proxied}"));
        settings.push(("AKHAR_UPLOAD_STORE_MIN_BYTES".to_owned(), "0".to_owned()));
        (Self { server, proxy, hostile }, settings)
    }
}
