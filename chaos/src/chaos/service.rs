//! The service under test: its own Postgres and folder of models, two apis and two workers. Each of these processes has a
//! proxy of its own in front of Postgres and a clock of its own, and each api another proxy in front of it.

use std::{
    array,
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use akhar_tests::{
    Cluster, Process, Proxy, Stack, clock::make_clock_movable, ends::record_ends, hostile::HostileProxy,
    uploads::S3Server,
};
use clap::ValueEnum;

use super::{disk, schedule::Fault};

/// The apis and the workers.
pub(super) const N_APIS: usize = 2;
pub(super) const N_WORKERS: usize = 2;

/// By how much the clock of each process is wrong, seconds: first the apis, then the workers.
const OFFSETS_S: [i64; N_APIS + N_WORKERS] = [-240, 180, -420, 360];

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
    /// `None` if its clock cannot be moved.
    pub(super) clock: Option<Clock>,
}

/// The library that moves the clock of one process (libfaketime), and the file that says by how much.
#[derive(Debug)]
pub(super) struct Clock {
    library: PathBuf,
    file: PathBuf,
    offset_s: i64,
}

impl Service {
    /// Starts the service. The apis answer and the workers are ready when this returns.
    pub(super) async fn start(store: UploadStore) -> Self {
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
        let builder = builder.settings(first.clock_settings()).set("AKHAR_SPEECH_WAIT_S", 60);
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
        if self.surroundings.iter().any(|of| of.clock.is_none()) {
            let why = "libfaketime is not installed (scripts/setup.sh chaos)".to_owned();
            impossible.push((Fault::MoveClock, why));
        }
        impossible
    }
}

impl Surroundings {
    fn new(cluster: &Cluster, nth: usize) -> Self {
        let folder = cluster.folder().join(format!("process-{nth}"));
        let to_database = Proxy::to_postgres(&folder, cluster).expect("a proxy");
        Self { to_database, clock: Clock::find(&folder, OFFSETS_S[nth]), folder }
    }

    fn clock_settings(&self) -> Vec<(String, String)> {
        self.clock.as_ref().map(Clock::settings).unwrap_or_default()
    }

    /// The settings of a process of this stack with these surroundings.
    fn settings(&self, stack: &Stack) -> Vec<(String, String)> {
        let mut settings = self.clock_settings();
        settings.push(stack.database_through(&self.folder));
        settings
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

impl Clock {
    fn find(folder: &Path, offset_s: i64) -> Option<Self> {
        let folders = fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
        let mut libraries = folders.map(|folder| folder.join("faketime/libfaketime.so.1"));
        let library = libraries.find(|library| library.exists())?;
        let file = folder.join("clock");
        File::create(&file).expect("the clock's file");
        let clock = Self { library, file, offset_s };
        clock.jump(0);
        Some(clock)
    }

    /// The environment of a process with this clock.
    fn settings(&self) -> Vec<(String, String)> {
        [
            ("LD_PRELOAD", &*self.library.to_string_lossy()),
            ("FAKETIME_TIMESTAMP_FILE", &*self.file.to_string_lossy()),
            ("FAKETIME_CACHE_DURATION", "1"),
            // The system's clock jumps. The monotonic one, which measures durations, never does.
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
            ("DONT_FAKE_MONOTONIC", "1"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
    }

    /// Moves the clock to so many seconds from where it usually is.
    pub(super) fn jump(&self, seconds: i64) {
        let seconds = self.offset_s + seconds;
        // The text always has the same length and is written in place, so that a full disk does not matter.
        let write = || -> io::Result<()> {
            File::options().write(true).open(&self.file)?.write_all(format!("{seconds:+010}\n").as_bytes())
        };
        write().expect("the clock's file is written");
    }
}
