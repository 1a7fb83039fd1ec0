//! The service under test: its own Postgres, one api and two workers, with a proxy in front of the api and another one
//! in front of Postgres.

use std::{
    fs,
    path::{Path, PathBuf},
};

use akhar_tests::{
    Cluster, Process, cluster::url, process::command, stack::base_environment, uploads::S3Server,
};
use clap::ValueEnum;
use sqlx::{PgPool, postgres::PgPoolOptions};

use super::{disk, proxy::Proxy, schedule::Fault};

/// Workers. The first one's clock can be moved.
const WORKERS: usize = 2;

/// Records every end of a job.
const RECORD_ENDS: &str = "create table ends (job_id uuid not null);
    create function record_end() returns trigger language plpgsql as
    $$ begin insert into ends values (new.id); return null; end $$;
    create trigger record_end after update of state on jobs for each row
    when (new.state in ('succeeded', 'failed', 'cancelled')) execute function record_end();";

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
    /// Connections to Postgres itself, for the checker and for faults.
    pub(super) db: PgPool,
    pub(super) api: Process,
    pub(super) workers: Vec<Process>,
    /// The api's address, as `127.0.0.1:41234`.
    pub(super) address: String,
    /// The address of the proxy in front of the api.
    pub(super) proxied: String,
    pub(super) key: String,
    pub(super) to_clients: Proxy,
    pub(super) to_database: Proxy,
    /// `None` if uploads are in the database.
    pub(super) bucket: Option<Bucket>,
    clock: Option<Clock>,
    environment: Vec<(String, String)>,
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
        let options = cluster.database().await;
        let sockets = cluster.folder().join("proxy");
        fs::create_dir(&sockets).expect("a folder for the proxy's socket");
        let name = ".s.PGSQL.5432";
        let real = options.get_socket().expect("a private Postgres has a socket").join(name);
        let to_database = Proxy::unix(&sockets.join(name), real).expect("a proxy");
        let mut environment = base_environment(&options);
        set(&mut environment, "AKHAR_DATABASE_URL", url(&options.clone().socket(&sockets)));
        set(&mut environment, "AKHAR_SPEECH_WAIT_S", "60".to_owned());
        let bucket = match store {
            UploadStore::Postgres => None,
            UploadStore::S3 => Some(Bucket::start(&mut environment).await),
        };
        let db = PgPoolOptions::new().max_connections(2).connect_lazy_with(options);
        sqlx::raw_sql(RECORD_ENDS).execute(&db).await.expect("a record of ends");
        let clock = Clock::find(cluster.folder());
        let key = command(&["keys", "create", "--name", "chaos"], &environment).output().await;
        let key = String::from_utf8(key.expect("akhar keys runs").stdout).expect("UTF-8").trim().to_owned();
        let mut api = Process::start("api", &environment);
        let line = api.first_line().await;
        let address =
            line.strip_prefix("listening on http://").unwrap_or_else(|| panic!("first line: {line}"));
        let address = address.to_owned();
        set(&mut environment, "AKHAR_LISTEN", address.clone());
        let (to_clients, proxied) = Proxy::tcp(address.clone()).await.expect("a proxy");
        let mut service = Self {
            cluster,
            db,
            api,
            workers: Vec::new(),
            address,
            proxied,
            key,
            to_clients,
            to_database,
            bucket,
            clock,
            environment,
        };
        for nth in 0..WORKERS {
            let worker = service.new_worker(nth).await;
            service.workers.push(worker);
        }
        service
    }

    async fn new_worker(&self, nth: usize) -> Process {
        let mut environment = self.environment.clone();
        if let Some(clock) = self.clock.as_ref().filter(|_| nth == 0) {
            set(&mut environment, "LD_PRELOAD", clock.library.to_string_lossy().into_owned());
            set(&mut environment, "FAKETIME_TIMESTAMP_FILE", clock.file.to_string_lossy().into_owned());
            set(&mut environment, "FAKETIME_CACHE_DURATION", "1".to_owned());
            // The system's clock jumps. The monotonic one, which measures durations, never does.
            set(&mut environment, "FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned());
            set(&mut environment, "DONT_FAKE_MONOTONIC", "1".to_owned());
        }
        let mut worker = Process::start("worker", &environment);
        assert_eq!(worker.first_line().await, "ready");
        worker
    }

    /// Kills a worker (-9) and starts it again.
    pub(super) async fn replace_worker(&mut self, nth: usize) {
        self.workers[nth].kill().await;
        self.workers[nth] = self.new_worker(nth).await;
    }

    /// Kills the api (-9) and starts it again on the same address.
    pub(super) async fn replace_api(&mut self) {
        self.api.kill().await;
        self.api = Process::start("api", &self.environment);
        assert_eq!(self.api.first_line().await, format!("listening on http://{}", self.address));
    }

    /// Moves the clock of the first worker by so many seconds from the real time.
    pub(super) fn move_clock(&self, seconds: i64) {
        if let Some(clock) = &self.clock {
            clock.set(seconds);
        }
    }

    /// The faults that cannot happen here, and why.
    pub(super) fn impossible(&self) -> Vec<(&'static str, String)> {
        let mut impossible = Vec::new();
        if let Some(why) = disk::why_not(self.cluster.folder()) {
            impossible.push((Fault::FillDisk.name(), why));
        }
        if self.bucket.is_none() {
            for fault in [Fault::ResetStore, Fault::StopStore] {
                impossible.push((fault.name(), "uploads are in the database (--store s3)".to_owned()));
            }
        }
        if self.clock.is_none() {
            let why = "libfaketime is not installed (scripts/setup.sh chaos)".to_owned();
            impossible.push((Fault::MoveClock.name(), why));
        }
        impossible
    }
}

impl Bucket {
    /// Starts an S3 server, and adds the settings of a service that keeps all uploads there.
    async fn start(environment: &mut Vec<(String, String)>) -> Self {
        let server = S3Server::start().await;
        let target = server.address.trim_start_matches("http://").to_owned();
        let (proxy, proxied) = Proxy::tcp(target).await.expect("a proxy");
        for (name, value) in S3Server::settings(&format!("http://{proxied}")) {
            set(environment, &name, value);
        }
        set(environment, "AKHAR_UPLOAD_STORE_MIN_BYTES", "0".to_owned());
        Self { server, proxy }
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

    fn set(&self, seconds: i64) {
        // Written to another file first, because the library may read at any time.
        let draft = self.file.with_extension("draft");
        fs::write(&draft, format!("{seconds:+}\n")).expect("the clock's file is written");
        fs::rename(draft, &self.file).expect("the clock's file is replaced");
    }
}

fn set(environment: &mut Vec<(String, String)>, name: &str, value: String) {
    environment.retain(|(n, _)| n != name);
    environment.push((name.to_owned(), value));
}
