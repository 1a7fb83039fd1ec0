//! The black-box harness: a [`Stack`] is one world of its own, with its own database, a real `akhar api`
//! on a free port and real `akhar worker`s; requests go in over TCP, [`Answer`]s come out.
//!
//! A test waits on conditions ([`until`]), never on time, and nothing survives it: processes and the
//! Postgres of a test binary end with it, even when it is killed (see [`cluster`]).

pub mod cluster;
pub mod http;
pub mod hub;
pub mod images;
pub mod load;
pub mod process;
mod seam;
pub mod serve;
pub mod speech;
pub mod stack;

pub use cluster::Cluster;
pub use http::{Answer, Form, Problem};
pub use hub::{Fault, Hub};
pub use process::Process;
pub use seam::{Held, Seam};
pub use serve::Service;
pub use stack::{Stack, StackBuilder};

use std::{path::PathBuf, time::Duration};

use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};

/// How long a condition may take before the test gives up on it: far above what it takes on a busy
/// machine, so that reaching it means that the condition never comes.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until `condition` gives a value, looking again every 20 ms; panics, naming `what`, when
/// [`PATIENCE`] is over.
pub async fn until<T>(what: &str, mut condition: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    let mut looks = interval(Duration::from_millis(20));
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let came = timeout_at(deadline, async {
        loop {
            looks.tick().await;
            if let Some(value) = condition().await {
                return value;
            }
        }
    });
    came.await.unwrap_or_else(|_| panic!("waited {PATIENCE:?} in vain until {what}"))
}

/// The repository's root.
pub fn root() -> PathBuf {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    tests.parent().map(PathBuf::from).unwrap_or(tests)
}

/// The product: `akhar` of the same profile as the running test or benchmark, which lies beside it or in
/// a folder beside it.
pub fn binary() -> PathBuf {
    let this = std::env::current_exe().expect("a process knows its own path");
    let places = this.ancestors().skip(1).take(2).map(|folder| folder.join("akhar"));
    let found = places.clone().find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!(
            "no akhar in any of {:?}: run `make test` or `make bench`, which build it",
            places.collect::<Vec<_>>()
        )
    })
}
