//! The harness of the black-box tests. A [`Stack`] is a separate installation for one test: a database, a
//! real `akhar api` on a free port and real `akhar worker`s. A test sends requests over TCP and checks the
//! [`Answer`]s.
//!
//! A test waits for conditions ([`until`]) and never for a fixed time. Processes and the Postgres of a test
//! binary end with the binary, also when it is killed (see [`cluster`]).

#![expect(clippy::disallowed_methods, reason = "a test that waits for ever concerns its run only")]

pub mod bulk;
pub mod clock;
pub mod cluster;
pub mod ends;
pub mod events;
pub mod figures;
pub mod files;
pub mod hang_ups;
pub mod hostile;
pub mod http;
pub mod hub;
pub mod images;
pub mod live;
pub mod load;
pub mod load_balancer;
pub mod models;
pub mod monitor;
pub mod ops;
pub mod pooler;
pub mod process;
pub mod proxy;
pub mod queue;
pub mod realtime;
pub mod results;
pub mod scripts;
mod seam;
pub mod serve;
pub mod speech;
pub mod stack;
pub mod terminal;
pub mod uploads;
pub mod webhooks;

pub use cluster::Cluster;
pub use http::{Answer, Form, Problem};
pub use hub::{Fault, Hub};
pub use load_balancer::LoadBalancer;
pub use pooler::{PoolMode, Pooler};
pub use process::Process;
pub use proxy::{Passing, Proxy};
pub use seam::{Held, Seam};
pub use serve::Service;
pub use stack::{Stack, StackBuilder};

use std::{path::PathBuf, time::Duration};

use tokio::time::{Instant, MissedTickBehavior, interval, timeout_at};

/// The longest time that a test waits for a condition. On a busy machine, conditions need far less, so a
/// timeout means that the condition never becomes true.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// Waits until `condition` returns a value, and checks it every 20 ms. After [`TIMEOUT`] it panics with
/// `what`, which describes the condition.
pub async fn until<T>(what: &str, mut condition: impl AsyncFnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + TIMEOUT;
    let mut ticks = interval(Duration::from_millis(20));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let value = timeout_at(deadline, async {
        loop {
            ticks.tick().await;
            if let Some(value) = condition().await {
                return value;
            }
        }
    });
    value.await.unwrap_or_else(|_| panic!("this did not become true within {TIMEOUT:?}: {what}"))
}

/// The repository's root.
pub fn root() -> PathBuf {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    tests.parent().map(PathBuf::from).unwrap_or(tests)
}

/// The program `akhar`, built with the same profile as the running test or benchmark. It is in the folder of
/// that test or benchmark, or in the folder above.
pub fn binary() -> PathBuf {
    let this = std::env::current_exe().expect("a process knows its own path");
    let places = this.ancestors().skip(1).take(2).map(|folder| folder.join("akhar"));
    let found = places.clone().find(|path| path.is_file());
    found.unwrap_or_else(|| {
        panic!(
            "there is no akhar at any of {:?}: run `make test`, `make bench` or `make chaos`, which build it",
            places.collect::<Vec<_>>()
        )
    })
}

/// A port of this machine that nothing listens on now.
pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("an address").port()
}
