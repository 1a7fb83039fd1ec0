//! `PgBouncer` in front of a test's Postgres.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use rustix::process::{Signal, geteuid};
use sqlx::{Connection as _, PgConnection};
use tokio::process::Command;

use crate::{Cluster, Process, root, until};

/// The user that runs `PgBouncer` where the tests run as root, who may enter the folder of the server's socket.
const USER: &str = "postgres";

/// How long a client of the pooler keeps the connection to the server that it gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolMode {
    /// Until it disconnects.
    Session,
    /// For one transaction.
    Transaction,
    /// For one transaction, and prepared statements are not kept, as before version 1.21.
    WithoutStatements,
}

impl PoolMode {
    const fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Transaction => "transaction",
            Self::WithoutStatements => "transaction\nmax_prepared_statements = 0",
        }
    }
}

/// A running pooler with a socket of its own.
#[derive(Debug)]
pub struct Pooler {
    process: Process,
    folder: PathBuf,
}

impl Pooler {
    /// Starts one in front of this server. Its settings are the defaults, with two exceptions. It gives back connections soon:
    /// each test has a database, and the server accepts 100 connections. And it does not refuse connections for 15 seconds
    /// after one has failed.
    pub async fn start(cluster: &Cluster, mode: PoolMode) -> Self {
        let folder = cluster.folder().join(format!("pooler-{}", uuid::Uuid::now_v7().simple()));
        fs::create_dir(&folder).expect("a folder");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("a folder for any user");
        let (server, own, mode) = (cluster.socket().display(), folder.display(), mode.name());
        let settings = format!(
            "[databases]\n* = host={server} user=akhar\n[pgbouncer]\nauth_type = any\nlisten_port = 5432\n\
             unix_socket_dir = {own}\npool_mode = {mode}\nserver_idle_timeout = 2\nserver_login_retry = 0.1\n"
        );
        let file = folder.join("pgbouncer.ini");
        fs::write(&file, settings).expect("its settings");
        let mut pgbouncer = Command::new(root().join(".cache/pgbouncer"));
        if geteuid().is_root() {
            pgbouncer.args(["-u", USER]);
        }
        pgbouncer.arg(file).env("TESTS_SOCKET", cluster.socket()).kill_on_drop(true);
        let pooler = Self { process: Process::spawn("pgbouncer", pgbouncer), folder };
        pooler.answers(cluster).await;
        pooler
    }

    /// The folder of its socket.
    pub fn socket(&self) -> &Path {
        &self.folder
    }

    async fn answers(&self, cluster: &Cluster) {
        let options = cluster.options().socket(&self.folder).extra_float_digits(None);
        until("the pooler answers", async || PgConnection::connect_with(&options).await.ok()).await;
    }

    /// Kills it, and starts it again.
    pub async fn restart(&mut self, cluster: &Cluster) {
        self.process.start_again(Signal::KILL).await;
        self.answers(cluster).await;
    }
}
