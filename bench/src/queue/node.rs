//! Runs graphile-worker and pg-boss through `bench/peers/queues.mjs`.

use akhar_tests::root;
use serde_json::Value;
use sqlx::postgres::PgConnectOptions;
use tokio::process::Command;

use super::turn::{Mode, Took};

/// Runs `n` empty jobs. `local_queue` is the size of graphile-worker's local queue.
pub(super) async fn turn(
    database: &PgConnectOptions,
    program: &str,
    local_queue: usize,
    mode: Mode,
    n: usize,
) -> Took {
    let folder = root().join(".cache/peers/node");
    let mut command = Command::new(folder.join("node"));
    command.arg(root().join("bench/peers/queues.mjs")).args([program, mode.name(), &n.to_string()]);
    command.current_dir(&folder).kill_on_drop(true);
    command.env("PGHOST", database.get_socket().expect("a private Postgres has a socket"));
    command
        .env("PGUSER", database.get_username())
        .env("PGDATABASE", database.get_database().expect("a name"));
    command.env("LOCAL_QUEUE", local_queue.to_string());
    let output = command.output().await.expect("run bench/peers/setup.sh");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} ended with {}: {said}", output.status);
    let json: Value = serde_json::from_slice(&output.stdout).expect("one line of JSON");
    let seconds = |name: &str| json[name].as_f64().expect("seconds");
    Took { insert_s: seconds("insert_s"), work_s: seconds("work_s") }
}
