//! A worker process: tickets come in through the queue; jobs are claimed, decoded, inferred and
//! finished. Nothing here knows HTTP.

mod decode;
mod delivery;
mod engine;
mod error;
mod liveness;
mod models;
mod operations;

use std::sync::Arc;

use akhar_jobs::{Queue, store};
use akhar_platform::{config::Config, database::Database, shutdown::Shutdown};
use tokio::sync::watch;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use ulid::Ulid;

pub use error::WorkerError;
pub use operations::classifier_input;

use delivery::{
    attempt::Attempts,
    in_hand::InHand,
    queue,
    wakeup::{self, Bells},
};
use liveness::sweeper::{self, Contact};
use models::Models;

/// Loads and warms the models, calls `ready`, and works until told to stop.
///
/// On the soft token nothing new is taken and what runs is finished; on the hard one this returns at
/// once, and other workers take over what is left.
pub async fn run(
    config: &Config,
    database: Database,
    shutdown: Shutdown,
    ready: impl FnOnce(),
) -> Result<(), WorkerError> {
    let (models, registry) = Models::load(config).await?;
    let models = Arc::new(models);
    let name = name();
    store::beat(&database.volatile, &name).await?;
    let tracker = TaskTracker::new();
    let attempts = Arc::new(Attempts {
        database: database.clone(),
        models: models.clone(),
        worker: name.clone(),
        in_hand: InHand::default(),
        tracker: tracker.clone(),
        shutdown: shutdown.clone(),
    });
    let bells = Arc::new(Bells::default());
    let helpers = TaskTracker::new();
    helpers.spawn(wakeup::listen(database.volatile.clone(), bells.clone(), shutdown.clone()));
    helpers.spawn(models.follow(registry, shutdown.clone()));
    let (contact, steadiness) = watch::channel(Contact::new());
    helpers.spawn(sweeper::sweep(database.clone(), config.clone(), steadiness, shutdown.clone()));
    let last_beat = CancellationToken::new();
    let beating = sweeper::heartbeat(database.clone(), name.clone(), contact, last_beat.clone());
    let heart = tokio::spawn(beating);
    for queue in Queue::ALL {
        let limits = queue::Limits::of(queue, config);
        helpers.spawn(queue::consume(queue, limits, attempts.clone(), bells.clone()));
    }
    tracing::info!(worker = %name, "worker ready");
    ready();
    shutdown.soft.cancelled().await;
    helpers.close();
    tracker.close();
    tokio::select! {
        () = async { helpers.wait().await; tracker.wait().await } => (),
        () = shutdown.hard.cancelled() => tracing::warn!("left work unfinished: other workers take it over"),
    }
    last_beat.cancel();
    tokio::select! { _ = heart => (), () = shutdown.hard.cancelled() => () }
    if let Err(error) = store::leave(&database.volatile, &name).await {
        tracing::warn!(%error, "could not sign off; the sweeper will notice");
    }
    Ok(())
}

/// A name no worker ever had: host, process, and a ULID.
fn name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = match host.trim() {
        "" => "host",
        host => host,
    };
    format!("{host}-{}-{}", std::process::id(), Ulid::generate())
}
