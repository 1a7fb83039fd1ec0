//! One Postgres for all tests of a test binary. It is started with the product's own code for private
//! servers.
//!
//! The server must not outlive the test process, and a process that is killed runs no destructors. So a shell
//! reads from a pipe that the test process holds open. When the test process ends in any way, the shell sees
//! the end of the pipe. It then stops the server, kills the product's processes that still use it, and
//! removes the folder.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{ChildStdin, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
};

use akhar_platform::database::{Pool, PrivatePostgres};
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};
use sqlx::{Connection as _, PgConnection, postgres::PgConnectOptions};

use crate::until;

/// The template database, from which each test's database is copied.
const TEMPLATE: &str = "migrated";

/// The watching shell's script, run as `sh -c WATCH watch <folder>`. Its standard input stays open until the
/// test process ends. A process belongs to these tests if its environment names the folder, which no other
/// run uses.
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

/// A running Postgres for tests.
#[derive(Debug)]
pub struct Cluster {
    folder: PathBuf,
    options: PgConnectOptions,
    /// `None` only while the server is stopped.
    server: Mutex<Option<PrivatePostgres>>,
    /// The pipe to the watching shell. It closes when the test process ends.
    _watched: ChildStdin,
}

impl Cluster {
    /// The cluster that all tests of this binary share.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Cluster> = OnceLock::new();
        SHARED.get_or_init(|| {
            let cluster = Self::start();
            std::thread::scope(|scope| scope.spawn(|| make_template(&cluster)).join()).expect("a template");
            cluster
        })
    }

    /// A cluster for one test, which may stop it. The server runs until the value is dropped.
    pub fn own() -> Self {
        let cluster = Self::start();
        std::thread::scope(|scope| scope.spawn(|| make_template(&cluster)).join()).expect("a template");
        cluster
    }

    /// A replica of this server, which streams its changes. From now on, a commit returns once the replica has it too.
    pub async fn replica(&self) -> Self {
        let folder = new_folder();
        let primary = fs::metadata(self.folder.join("postgres/cluster")).expect("a cluster");
        let home = folder.join("postgres");
        fs::create_dir(&home).expect("a folder");
        chown(&home, Some(primary.uid()), Some(primary.gid())).expect("it belongs to the server's user");
        let (programs, _) = PrivatePostgres::programs().expect("Postgres's programs");
        let mut copy = Command::new(programs.join("pg_basebackup"));
        copy.args(["--write-recovery-conf", "--checkpoint=fast", "--username=akhar", "--host"])
            .arg(self.socket());
        copy.arg("--pgdata").arg(home.join("cluster")).uid(primary.uid()).gid(primary.gid()).current_dir("/");
        let copied = copy.output().expect("pg_basebackup runs");
        assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
        let replica = Self::start_in(folder);
        self.execute("alter system set synchronous_standby_names = '*'").await;
        self.execute("select pg_reload_conf()").await;
        replica
    }

    /// Waits until this replica has everything that the primary has on disk now.
    pub async fn catch_up(&self, primary: &Self) {
        let written: String = primary.read("select pg_current_wal_flush_lsn()::text").await;
        let has_it = format!("select pg_last_wal_replay_lsn() >= '{written}'");
        until("the replica has caught up", async || self.read::<bool>(&has_it).await.then_some(())).await;
    }

    /// Makes a replica accept changes.
    pub async fn promote(&self) {
        self.execute("select pg_promote()").await;
    }

    /// Lets the server take no changes, also on connections that are open, or lets it take them again.
    pub async fn set_read_only(&self, is_read_only: bool) {
        self.execute(&format!("alter system set default_transaction_read_only = {is_read_only}")).await;
        self.execute("select pg_reload_conf()").await;
    }

    fn start() -> Self {
        Self::start_in(new_folder())
    }

    fn start_in(folder: PathBuf) -> Self {
        let watched = watch(&folder);
        let server = PrivatePostgres::start(&folder).expect("a private Postgres");
        Self { options: server.options(), folder, server: Mutex::new(Some(server)), _watched: watched }
    }

    /// A temporary folder, which is removed after the tests.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How to connect to the server.
    pub fn options(&self) -> PgConnectOptions {
        self.options.clone()
    }

    /// The folder of the server's socket.
    pub fn socket(&self) -> &Path {
        self.options.get_socket().expect("a private Postgres has a socket")
    }

    /// Creates a database with the product's schema. Returns how to connect to it.
    pub async fn database(&self) -> PgConnectOptions {
        self.create(&format!(" template {TEMPLATE}")).await
    }

    /// Creates an empty database. Returns how to connect to it.
    pub async fn empty_database(&self) -> PgConnectOptions {
        self.create("").await
    }

    /// Creates a database in another encoding than UTF-8.
    pub async fn latin_database(&self) -> PgConnectOptions {
        self.create(" encoding 'LATIN1' locale 'C' template template0").await
    }

    async fn create(&self, from: &str) -> PgConnectOptions {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        self.execute(&format!("create database {name}{from}")).await;
        self.options.clone().database(&name)
    }

    /// Makes a database unreachable: ends its connections and allows no new ones.
    pub async fn close_database(&self, name: &str) {
        self.execute(&format!("alter database {name} allow_connections false")).await;
        self.execute(&format!(
            "select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'"
        ))
        .await;
    }

    /// Allows connections to a database again.
    pub async fn open_database(&self, name: &str) {
        self.execute(&format!("alter database {name} allow_connections true")).await;
    }

    async fn execute(&self, statement: &str) {
        let mut connection = PgConnection::connect_with(&self.options).await.expect("the cluster answers");
        sqlx::query(sqlx::AssertSqlSafe(statement)).execute(&mut connection).await.expect(statement);
        connection.close().await.expect("a close");
    }

    async fn read<T>(&self, query: &str) -> T
    where
        T: Send + Unpin + for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres>,
    {
        let mut connection = PgConnection::connect_with(&self.options).await.expect("the cluster answers");
        let read = sqlx::query_scalar(sqlx::AssertSqlSafe(query)).fetch_one(&mut connection).await;
        read.expect(query)
    }

    /// The postmaster's process id.
    pub fn postmaster(&self) -> Pid {
        let text = fs::read_to_string(self.pid_file()).expect("a running server");
        text.lines().next().and_then(|l| l.parse().ok()).and_then(Pid::from_raw).expect("its pid")
    }

    fn pid_file(&self) -> PathBuf {
        self.folder.join("postgres/cluster/postmaster.pid")
    }

    /// Stops the server with `signal`. `INT` is a fast shutdown; `QUIT` stops at once, as in a crash.
    pub async fn stop(&self, signal: Signal) {
        let pid_file = self.pid_file();
        kill_process(self.postmaster(), signal).expect("a signal reaches it");
        until("Postgres has stopped", async || (!pid_file.exists()).then_some(())).await;
        self.hold(None);
    }

    /// Kills (-9) the postmaster and all server processes. Returns when all of them are gone.
    pub async fn kill(&self) {
        let postmaster = self.postmaster();
        // The postmaster is killed first, so that it cannot start another server process or begin a recovery.
        kill_process(postmaster, Signal::KILL).expect("a signal reaches it");
        until("every server process is gone", async || {
            let left = self.processes();
            for pid in &left {
                // An error means that the process is already gone.
                let _gone = kill_process(*pid, Signal::KILL);
            }
            left.is_empty().then_some(())
        })
        .await;
        self.hold(None);
    }

    /// Kills the server, and deletes its data.
    pub async fn destroy(&self) {
        self.kill().await;
        fs::remove_dir_all(self.folder.join("postgres")).expect("its data");
    }

    /// All server processes.
    pub fn processes(&self) -> Vec<Pid> {
        processes_of(&self.folder.join("postgres/cluster"))
    }

    /// Makes the server flush asynchronous commits as late as possible, so that a kill loses them.
    pub async fn flush_late(&self) {
        self.execute("alter system set wal_writer_delay = '10s'").await;
        self.execute("alter system set wal_writer_flush_after = '1GB'").await;
        self.execute("select pg_reload_conf()").await;
    }

    /// Starts the server again.
    pub async fn start_again(&self) {
        self.hold(None); // a server that ended by itself still has its lock
        let folder = self.folder.clone();
        let started = tokio::task::spawn_blocking(move || PrivatePostgres::start(&folder)).await;
        self.hold(Some(started.expect("no panic").expect("Postgres starts again")));
    }

    /// Changes settings that need a restart, and restarts the server.
    pub async fn configure(&self, settings: &[(&str, &str)]) {
        for (name, value) in settings {
            self.execute(&format!("alter system set {name} = '{value}'")).await;
        }
        self.stop(Signal::INT).await;
        self.start_again().await;
    }

    fn hold(&self, server: Option<PrivatePostgres>) {
        *self.server.lock() = server;
    }
}

/// The server processes whose working folder is the cluster's. Zombie processes do not count.
fn processes_of(cluster: &Path) -> Vec<Pid> {
    let cluster = cluster.canonicalize().expect("a cluster");
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    let ours = processes.filter(|p| fs::read_link(p.path().join("cwd")).is_ok_and(|cwd| cwd == cluster));
    ours.filter_map(|p| Pid::from_raw(p.file_name().to_str()?.parse().ok()?)).collect()
}

/// The database's URL, for `AKHAR_DATABASE_URL`.
pub fn url(options: &PgConnectOptions) -> String {
    use sqlx::ConnectOptions as _;
    options.to_url_lossy().to_string()
}

fn new_folder() -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("akhar-tests-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    fs::create_dir(&folder).expect("a folder for Postgres");
    folder
}

fn watch(folder: &Path) -> ChildStdin {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", WATCH, "watch"]).arg(folder).stdin(Stdio::piped()).process_group(0);
    shell.stdout(Stdio::null()).stderr(Stdio::null());
    shell.spawn().expect("a shell").stdin.take().expect("a pipe")
}

/// Makes the template database and migrates it. So a test's database is a copy, which takes milliseconds. The
/// function has a runtime of its own, because its caller may already run inside one.
fn make_template(cluster: &Cluster) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        cluster.execute(&format!("create database {TEMPLATE}")).await;
        let pool = Pool::new(cluster.options.clone().database(TEMPLATE).into(), 1);
        akhar_migrations::migrate(&pool).await.expect("migrations apply");
        pool.close();
    });
}
