//! `PgBouncer` in session mode between the processes and Postgres.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use akhar_tests::{
    Cluster, Form, Process, Stack, http::send, process::command, stack::base_environment, until,
};
use rustix::process::Signal;
use sqlx::{Connection as _, PgConnection};

use crate::{digit, every_job_ended_once, record_ends, said};

/// The user that runs `PgBouncer` where the tests run as root, who may enter the folder of the server's socket.
const USER: &str = "postgres";

/// A running pooler with a socket of its own.
struct Pooler {
    process: Process,
    folder: PathBuf,
}

impl Pooler {
    /// Starts one in front of this server, with its default settings.
    async fn start(cluster: &Cluster) -> Self {
        let folder = cluster.folder().join(format!("pooler-{}", uuid::Uuid::now_v7().simple()));
        fs::create_dir(&folder).expect("a folder");
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).expect("a folder for any user");
        let (server, own) = (cluster.socket().display(), folder.display());
        let settings = format!(
            "[databases]\n* = host={server} user=akhar\n[pgbouncer]\nauth_type = any\nlisten_port = 5432\n\
             unix_socket_dir = {own}\ndefault_pool_size = 60\n"
        );
        let file = folder.join("pgbouncer.ini");
        fs::write(&file, settings).expect("its settings");
        let mut pgbouncer = tokio::process::Command::new("/usr/sbin/pgbouncer");
        if rustix::process::geteuid().is_root() {
            pgbouncer.args(["-u", USER]);
        }
        pgbouncer.arg(file).env("TESTS_SOCKET", cluster.socket()).kill_on_drop(true);
        let pooler = Self { process: Process::spawn("pgbouncer", pgbouncer), folder };
        pooler.answers(cluster).await;
        pooler
    }

    async fn answers(&self, cluster: &Cluster) {
        let options = cluster.empty_database().await.socket(&self.folder).extra_float_digits(None);
        until("the pooler answers", async || PgConnection::connect_with(&options).await.ok()).await;
    }

    /// Kills it, and starts it again.
    async fn restart(&mut self, cluster: &Cluster) {
        self.process.start_again(Signal::KILL).await;
        self.answers(cluster).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_is_migrated_through_a_pooler() {
    let cluster = Cluster::shared();
    let pooler = Pooler::start(cluster).await;
    let empty = cluster.empty_database().await;
    let environment = base_environment(&empty.clone().socket(&pooler.folder));
    let migrated = command(&["migrate"], &environment).output().await.expect("it runs");
    assert!(migrated.status.success(), "{}", said(&migrated));
    let mut db = PgConnection::connect_with(&empty).await.expect("it answers");
    let n: i64 = sqlx::query_scalar("select count(*) from jobs").fetch_one(&mut db).await.expect("a table");
    assert_eq!(n, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_get_their_answers_through_a_pooler_that_is_killed() {
    let cluster = Cluster::shared();
    let mut pooler = Pooler::start(cluster).await;
    let folder = pooler.folder.clone();
    let mut stack = Stack::with().socket(&folder).workers(0).start().await;
    record_ends(&stack.db).await;
    let waiting = tokio::spawn(send(stack.post(digit().operation, &Form::upload(&digit().bytes))));
    stack.jobs_are(1, "queued").await;
    pooler.restart(cluster).await;
    stack.add_worker().await;
    assert_eq!(waiting.await.expect("no panic").predictions()[0].0, digit().label);
    pooler.restart(cluster).await;
    let answer = stack.recognise(digit().operation, &digit().bytes).await;
    assert_eq!(answer.predictions()[0].0, digit().label);
    assert_eq!(every_job_ended_once(&stack).await, 2);
}
