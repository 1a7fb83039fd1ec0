//! Runs the queues that are programs of their own, which `bench/peers/setup.sh` installs: `bench/peers/queues.mjs` and
//! `bench/peers/graphile_worker`. Their arguments are the name of the queue, `drain` or `flow`, and the number of jobs.

use akhar_tests::root;
use serde_json::Value;
use sqlx::postgres::PgConnectOptions;
use tokio::process::Command;

use super::turn::{Mode, Took};

/// Runs `n` empty jobs through graphile-worker. `local_queue` is the size of its local queue.
pub(super) async fn node(database: &PgConnectOptions, local_queue: usize, mode: Mode, n: usize) -> Took {
    let folder = root().join(".cache/peers/node");
    let mut command = Command::new(folder.join("node"));
    command.arg(root().join("bench/peers/queues.mjs")).current_dir(&folder);
    command.env("LOCAL_QUEUE", local_queue.to_string());
    turn(command, database, "graphile-worker", mode, n).await
}

/// Runs `n` empty jobs through `graphile_worker`.
pub(super) async fn rust(database: &PgConnectOptions, mode: Mode, n: usize) -> Took {
    let program = root().join(".cache/peers/rust/release/graphile-worker-queue");
    turn(Command::new(program), database, "graphile_worker", mode, n).await
}

async fn turn(mut command: Command, database: &PgConnectOptions, queue: &str, mode: Mode, n: usize) -> Took {
    command.args([queue, mode.name(), &n.to_string()]).kill_on_drop(true);
    command.env("PGHOST", database.get_socket().expect("a private Postgres has a socket"));
    command
        .env("PGUSER", database.get_username())
        .env("PGDATABASE", database.get_database().expect("a name"));
    let output = command.output().await.expect("run bench/peers/setup.sh");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{queue} ended with {}: {said}", output.status);
    let json: Value = serde_json::from_slice(&output.stdout).expect("one line of JSON");
    let seconds = |name: &str| json[name].as_f64().expect("seconds");
    Took { insert_s: seconds("insert_s"), work_s: seconds("work_s") }
}
