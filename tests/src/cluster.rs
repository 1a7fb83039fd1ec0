//! One Postgres for all tests of a binary, through the product's own private server.
//!
//! It must not outlive us, and a killed process runs no destructor. So a shell holds the other end of a
//! pipe from us: however we end, it reads the pipe's end, stops the server, ends the product's processes
//! that still use it, and removes the folder.

use std::{
    fs,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{ChildStdin, Command, Stdio},
    sync::{
        Mutex, OnceLock, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use akhar_platform::database::PrivatePostgres;
use rustix::process::{Pid, Signal, kill_process};
use sqlx::{Connection as _, PgConnection, postgres::PgConnectOptions};

use crate::until;

/// The database every test's own is copied from.
const TEMPLATE: &str = "migrated";

/// Runs as `sh -c WATCH watch <folder>`, its standard input open until we end. A process is ours when
/// its environment names the folder, which no other run ever uses.
const WATCH: &str = r#"
cat >/dev/null
for lock in "$1"/postgres/cluster/postmaster.pid "$1"/*/postgres/cluster/postmaster.pid; do
    postmaster=$(head -n 1 "$lock" 2>/dev/null) && kill -QUIT "$postmaster"
    while [ -e "$lock" ] && kill -0 "$postmaster" 2>/dev/null; do sleep 0.1; done
done
for environment in $(grep -ls "$1/" /proc/[0-9]*/environ); do
    pid=${environment#/proc/}; kill -KILL "${pid%/environ}" 2>/dev/null
done
rm -rf "$1"
"#;

/// A running Postgres of our own.
#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    options: PgConnectOptions,
    /// None only while it restarts.
    server: Mutex<Option<PrivatePostgres>>,
    /// Closed with us; the watching shell waits for that.
    _watched: ChildStdin,
}

impl Cluster {
    /// The one all tests of this binary share.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(|| {
            let cluster = Self::start();
            std::thread::scope(|scope| scope.spawn(|| make_template(&cluster)).join()).expect("a template");
            cluster
        })
    }

    /// One for a test that stops it, for as long as the value lives.
    pub fn own() -> Self {
        let cluster = Self::start();
        std::thread::scope(|scope| scope.spawn(|| make_template(&cluster)).join()).expect("a template");
        cluster
    }

    fn start() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("akhar-tests-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        fs::create_dir(&folder).expect("a folder for Postgres");
        let watched = watch(&folder);
        let server = PrivatePostgres::start(&folder).expect("a private Postgres");
        Self { options: server.options(), folder, server: Mutex::new(Some(server)), _watched: watched }
    }

    /// A folder that goes with us.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A new database with the product's schema; how to reach it.
    pub async fn database(&self) -> PgConnectOptions {
        self.create(&format!(" template {TEMPLATE}")).await
    }

    /// A new database with nothing in it.
    pub async fn empty_database(&self) -> PgConnectOptions {
        self.create("").await
    }

    async fn create(&self, from: &str) -> PgConnectOptions {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        self.execute(&format!("create database {name}{from}")).await;
        self.options.clone().database(&name)
    }

    /// Takes a database away: nobody connects to it any more, and who was connected is not.
    pub async fn close_database(&self, name: &str) {
        self.execute(&format!("alter database {name} allow_connections false")).await;
        self.execute(&format!(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'"
        ))
        .await;
    }

    /// Gives it back.
    pub async fn open_database(&self, name: &str) {
        self.execute(&format!("alter database {name} allow_connections true")).await;
    }

    async fn execute(&self, statement: &str) {
        let mut connection = PgConnection::connect_with(&self.options).await.expect("the cluster answers");
        sqlx::query(sqlx::AssertSqlSafe(statement)).execute(&mut connection).await.expect(statement);
        connection.close().await.expect("a close");
    }

    /// The postmaster's process id.
    pub fn postmaster(&self) -> Pid {
        let text = fs::read_to_string(self.pid_file()).expect("a running server");
        text.lines().next().and_then(|l| l.parse().ok()).and_then(Pid::from_raw).expect("its pid")
    }

    fn pid_file(&self) -> PathBuf {
        self.folder.join("postgres/cluster/postmaster.pid")
    }

    /// Stops the server with `signal` (`INT`: fast, `QUIT`: at once, as in a crash).
    pub async fn stop(&self, signal: Signal) {
        let pid_file = self.pid_file();
        kill_process(self.postmaster(), signal).expect("a signal reaches it");
        until("Postgres has stopped", async || (!pid_file.exists()).then_some(())).await;
        self.hold(None);
    }

    /// kill -9 of the postmaster and of every server process; returns once all are gone.
    pub async fn kill(&self) {
        let postmaster = self.postmaster();
        // First: nobody is left to start another server process, or to see one die and recover.
        kill_process(postmaster, Signal::KILL).expect("a signal reaches it");
        until("every server process is gone", async || {
            let left = processes_of(&self.folder.join("postgres/cluster"));
            for pid in &left {
                // An error: it is gone already.
                let _gone = kill_process(*pid, Signal::KILL);
            }
            left.is_empty().then_some(())
        })
        .await;
        self.hold(None);
    }

    /// Makes the server write commits that nobody waits for to disk as late as it can, so that a kill loses
    /// them.
    pub async fn flush_late(&self) {
        self.execute("alter system set wal_writer_delay = '10s'").await;
        self.execute("alter system set wal_writer_flush_after = '1GB'").await;
        self.execute("select pg_reload_conf()").await;
    }

    /// Starts it again.
    pub async fn start_again(&self) {
        let folder = self.folder.clone();
        let started = tokio::task::spawn_blocking(move || PrivatePostgres::start(&folder)).await;
        self.hold(Some(started.expect("no panic").expect("Postgres starts again")));
    }

    fn hold(&self, server: Option<PrivatePostgres>) {
        *self.server.lock().unwrap_or_else(PoisonError::into_inner) = server;
    }
}

/// The server processes that work in a cluster's folder; killed ones that nobody waited for do not count.
fn processes_of(cluster: &Path) -> Vec<Pid> {
    let cluster = cluster.canonicalize().expect("a cluster");
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    let ours = processes.filter(|p| fs::read_link(p.path().join("cwd")).is_ok_and(|cwd| cwd == cluster));
    ours.filter_map(|p| Pid::from_raw(p.file_name().to_str()?.parse().ok()?)).collect()
}

/// Its URL, as `AKHAR_DATABASE_URL` takes it.
pub fn url(options: &PgConnectOptions) -> String {
    use sqlx::ConnectOptions as _;
    options.to_url_lossy().to_string()
}

fn watch(folder: &Path) -> ChildStdin {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", WATCH, "watch"]).arg(folder).stdin(Stdio::piped()).process_group(0);
    shell.stdout(Stdio::null()).stderr(Stdio::null());
    shell.spawn().expect("a shell").stdin.take().expect("a pipe")
}

/// Migrates once, so that a test's database is a copy made in milliseconds. On a runtime of its own:
/// the caller may be inside one.
fn make_template(cluster: &Cluster) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        cluster.execute(&format!("create database {TEMPLATE}")).await;
        let pool = sqlx::PgPool::connect_with(cluster.options.clone().database(TEMPLATE)).await;
        let pool = pool.expect("the template answers");
        akhar_migrations::migrate(&pool).await.expect("migrations apply");
        pool.close().await;
    });
}
