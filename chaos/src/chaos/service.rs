//! The service under test: its own Postgres, one api and two workers, with a proxy in front of the api and another one
//! in front of Postgres.

use std::{
    fs,
    path::{Path, PathBuf},
};

use akhar_tests::{Cluster, Stack, clock::make_clock_movable, ends::record_ends, uploads::S3Server};
use clap::ValueEnum;

use super::{disk, proxy::Proxy, schedule::Fault};

/// Where the service keeps uploads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UploadStore {
    /// In the database.
    Postgres,
    /// All of them in a bucket of an S3 server, behind a proxy.
    S3,
}

/// The S3 server, and the proxy in front of it.
#[derive(Debug)]
pub(super) struct Bucket {
    pub(super) server: S3Server,
    pub(super) proxy: Proxy,
}

/// The running service.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) cluster: Cluster,
    /// The processes, and connections to Postgres itself. The clock of the first worker can be moved, and that which all
    /// workers see in Postgres.
    pub(super) stack: Stack,
    /// The process ids of the workers that were killed.
    pub(super) killed: Vec<i32>,
    /// The address of the proxy in front of the api.
    pub(super) proxied: String,
    pub(super) to_clients: Proxy,
    pub(super) to_database: Proxy,
    /// `None` if uploads are in the database.
    pub(super) bucket: Option<Bucket>,
    clock: Option<Clock>,
}

/// The library that moves the clock of one process (libfaketime), and the file that says by how much.
#[derive(Debug)]
struct Clock {
    library: PathBuf,
    file: PathBuf,
}

impl Service {
    /// Starts the service. The api answers and the workers are ready when this returns.
    pub(super) async fn start(store: UploadStore) -> Self {
        let cluster = Cluster::own();
        let sockets = cluster.folder().join("proxy");
        fs::create_dir(&sockets).expect("a folder for the proxy's socket");
        let name = ".s.PGSQL.5432";
        let to_database = Proxy::unix(&sockets.join(name), cluster.socket().join(name)).expect("a proxy");
        let (bucket, settings) = match store {
            UploadStore::Postgres => (None, Vec::new()),
            UploadStore::S3 => {
                let (bucket, settings) = Bucket::start().await;
                (Some(bucket), settings)
            }
        };
        let builder = Stack::with().on(&cluster).socket(&sockets).workers(0);
        let mut stack = builder.settings(settings).set("AKHAR_SPEECH_WAIT_S", 60).start().await;
        record_ends(&stack.db).await;
        make_clock_movable(&stack.db).await;
        let clock = Clock::find(cluster.folder());
        stack.add_worker_with(&clock.as_ref().map(Clock::settings).unwrap_or_default()).await;
        stack.add_worker().await;
        let api = stack.base.trim_start_matches("http://").to_owned();
        let (to_clients, proxied) = Proxy::tcp(api).await.expect("a proxy");
        Self { cluster, stack, killed: Vec::new(), proxied, to_clients, to_database, bucket, clock }
    }

    /// Moves the clock of the first worker by so many seconds from the real time.
    pub(super) fn move_clock(&self, seconds: i64) {
        if let Some(clock) = &self.clock {
            clock.set(seconds);
        }
    }

    /// The faults that cannot happen here, and why.
    pub(super) fn impossible(&self) -> Vec<(Fault, String)> {
        let mut impossible = Vec::new();
        if let Some(why) = disk::why_not(self.cluster.folder()) {
            impossible.push((Fault::FillDisk, why));
        }
        if self.bucket.is_none() {
            for fault in [Fault::ResetStore, Fault::StopStore] {
                impossible.push((fault, "uploads are in the database (--store s3)".to_owned()));
            }
        }
        if self.clock.is_none() {
            let why = "libfaketime is not installed (scripts/setup.sh chaos)".to_owned();
            impossible.push((Fault::MoveClock, why));
        }
        impossible
    }
}

impl Bucket {
    /// Starts an S3 server. Also returns the settings of a service that keeps all uploads there.
    async fn start() -> (Self, Vec<(String, String)>) {
        let server = S3Server::start().await;
        let target = server.address.trim_start_matches("http://").to_owned();
        let (proxy, proxied) = Proxy::tcp(target).await.expect("a proxy");
        let mut settings = S3Server::settings(&format!("http://{proxied}"));
        settings.push(("AKHAR_UPLOAD_STORE_MIN_BYTES".to_owned(), "0".to_owned()));
        (Self { server, proxy }, settings)
    }
}

impl Clock {
    fn find(folder: &Path) -> Option<Self> {
        let folders = fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
        let mut libraries = folders.map(|folder| folder.join("faketime/libfaketime.so.1"));
        let clock = Self { library: libraries.find(|library| library.exists())?, file: folder.join("clock") };
        clock.set(0);
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

    fn set(&self, seconds: i64) {
        // Written to another file first, because the library may read at any time.
        let draft = self.file.with_extension("draft");
        fs::write(&draft, format!("{seconds:+}\n")).expect("the clock's file is written");
        fs::rename(draft, &self.file).expect("the clock's file is replaced");
    }
}
