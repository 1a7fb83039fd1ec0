//! Measures how the service grows by processes: speech jobs of three workers beside one ([`mod@shares`]), and many apis and
//! workers on one Postgres, idle and under load ([`mod@many`]).

mod many;
mod shares;

use std::{fs, thread};

use akhar_tests::{Cluster, Process, root};
use rustix::process::Signal;
use sqlx::{Connection as _, PgConnection};

pub(crate) use many::run as many;
pub(crate) use shares::run as shares;

use crate::statements;

/// The cores of this machine.
fn n_cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The recordings of the tests in one language.
fn recordings(lang: &str) -> Vec<Vec<u8>> {
    let files = fs::read_dir(root().join("tests/fixtures/audio")).expect("recordings").flatten();
    let mut paths: Vec<_> = files.map(|file| file.path()).collect();
    paths.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&format!("{lang}-")) && name.ends_with(".wav")
    });
    paths.sort();
    paths.into_iter().map(|path| fs::read(path).expect("a recording")).collect()
}

/// Starts a cluster that counts its statements and has connections for many processes.
async fn cluster() -> Cluster {
    let cluster = statements::cluster().await;
    let mut admin = PgConnection::connect_with(&cluster.empty_database().await).await.expect("it answers");
    sqlx::query("alter system set max_connections = 1000").execute(&mut admin).await.expect("a setting");
    admin.close().await.expect("a close");
    cluster.stop(Signal::INT).await;
    cluster.start_again().await;
    cluster
}

/// Stops processes as an operator does, and waits for their ends.
async fn stop(processes: Vec<Process>) {
    for process in &processes {
        process.signal(Signal::TERM);
    }
    for mut process in processes {
        assert!(process.ended().await.success(), "a process did not stop well");
    }
}
