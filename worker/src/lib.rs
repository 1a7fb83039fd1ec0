//! A worker process: jobs are claimed through apalis, decoded, inferred and ended. Nothing here knows HTTP.

mod decode;
mod delivery;
mod engine;
mod error;
mod liveness;
mod models;
mod operations;

use std::sync::Arc;

use akhar_jobs::{
    Queue,
    backend::{ClaimedJob, Claims, Endings, Wakeups},
    store,
};
use akhar_platform::{
    config::Config,
    database::{Database, Event},
    shutdown::Shutdown,
};
use tokio::sync::{mpsc::UnboundedReceiver, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use uuid::Uuid;

pub use error::WorkerError;
pub use operations::classifier_input;

use delivery::{Attempts, ConsumerConfig, Consumers};
use liveness::{Contact, Sweeper, heartbeat};
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
    let (db, name) = (database.volatile.clone(), name());
    store::beat(&db, &name).await?;
    let tracker = TaskTracker::new();
    let endings = Endings::start(&db);
    let attempts = Arc::new(Attempts {
        db: db.clone(),
        endings: endings.clone(),
        models: models.clone(),
        config: config.clone(),
        tracker: tracker.clone(),
        shutdown: shutdown.clone(),
    });
    let places = |queue| ConsumerConfig::of(queue, config).concurrency;
    let (claims, dropped) = Claims::start(&db, name.clone(), places);
    let wakeups = Arc::new(Wakeups::default());
    let helpers = TaskTracker::new();
    helpers.spawn(listen(database.clone(), wakeups.clone(), shutdown.clone()));
    helpers.spawn(models.follow(registry, shutdown.clone()));
    let (contact, steadiness) = watch::channel(Contact::new());
    let sweeper = Sweeper { db: db.clone(), claims: claims.clone(), endings, contact: steadiness };
    helpers.spawn(sweeper.sweep(config.clone(), shutdown.clone()));
    let last_beat = CancellationToken::new();
    let heart = tokio::spawn(heartbeat(db.clone(), name.clone(), contact, last_beat.clone()));
    let consumers = Arc::new(Consumers { attempts: attempts.clone(), claims, wakeups });
    for queue in Queue::ALL {
        helpers.spawn(consumers.clone().consume(queue));
    }
    drop(consumers); // so that `dropped` ends with the last of them
    helpers.spawn(attempt_dropped(dropped, attempts));
    tracing::info!(worker = %name, "worker ready");
    ready();
    shutdown.soft.cancelled().await;
    helpers.close();
    tokio::select! {
        () = async { helpers.wait().await; tracker.close(); tracker.wait().await } => (),
        () = shutdown.hard.cancelled() => tracing::warn!("left work unfinished: other workers take it over"),
    }
    last_beat.cancel();
    tokio::select! { _ = heart => (), () = shutdown.hard.cancelled() => () }
    if let Err(error) = store::leave(&db, &name).await {
        tracing::warn!(%error, "could not sign off; the sweeper will notice");
    }
    Ok(())
}

/// Wakes the consumers when jobs are announced, until told to stop.
async fn listen(database: Database, wakeups: Arc<Wakeups>, shutdown: Shutdown) {
    let on_event = |event: Event<'_>| match event {
        Event::Connected => wakeups.wake_all(), // for what was missed while nobody listened
        Event::Notified { payload, .. } => wakeups.announce(payload),
    };
    tokio::select! {
        () = database.listen(&[store::JOBS_QUEUED], on_event) => (),
        () = shutdown.soft.cancelled() => (),
    }
}

/// Attempts what was claimed and dropped on its way to an attempt, as happens when a consumer ends.
async fn attempt_dropped(mut dropped: UnboundedReceiver<ClaimedJob>, attempts: Arc<Attempts>) {
    while let Some(job) = dropped.recv().await {
        tracing::debug!(job = %job.claimed.fence.job, "attempting a job whose consumer ended");
        let tracker = attempts.tracker.clone();
        tracker.spawn(attempts.clone().attempt(job));
    }
}

/// A name no worker ever had: host, process, and a UUID.
fn name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = match host.trim() {
        "" => "host",
        host => host,
    };
    format!("{host}-{}-{}", std::process::id(), Uuid::now_v7())
}
