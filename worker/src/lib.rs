//! The worker process. It claims jobs through apalis, decodes their uploads, runs the models and stores each
//! job's outcome. Over HTTP, it only fetches recordings from the URLs that callers give.

mod attempts;
mod decode;
mod decoding;
mod engine;
mod error;
mod fair_queue;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod liveness;
mod low_priority;
mod measure;
mod models;
mod operations;
mod recording;
mod stream;

use std::sync::Arc;

use akhar_jobs::{
    backend::{ClaimedJob, Claims, Endings, StreamWakeups, Wakeups},
    store,
    uploads::{Orphans, UploadStore},
};
use akhar_platform::database::Pool;
use akhar_platform::{
    config::Config,
    database::{Database, Event},
    host,
    reload::LiveConfig,
    shutdown::Shutdown,
};
use akhar_requests::QUEUES;
use akhar_webhooks::UrlRules;
use tokio::sync::{mpsc::UnboundedReceiver, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use uuid::Uuid;

pub use decode::undecodable::Undecodable;
pub use error::WorkerError;
pub use models::{runtime, serving, speech_copies};
pub use operations::classifier_input;
pub use recording::Recording;

use attempts::{Attempts, ConsumerConfig, Consumers, Downloads};
use liveness::{Sweeper, expire, heartbeat, sweep_uploads};
use measure::Measured;
use models::Models;
use stream::Streams;

/// Checks the models, calls `ready`, and works until `shutdown`. The models of letters and digits are loaded before, the
/// others by the first job that needs them.
///
/// `live` is `config` with later changes, which it follows where it reads a limit for each job.
///
/// After a soft shutdown the worker claims no more jobs and finishes those that it has. At the deadline it returns the
/// unfinished ones to their queues. After a hard shutdown it returns at once, and other workers take over the jobs that
/// it could not return.
///
/// # Errors
///
/// When ONNX Runtime or a chosen model cannot be loaded, a manifest or a file of a model is wrong, the models do not fit
/// in memory, or the first heartbeat cannot be written to the database. Later, when a model or a thread that decodes a recording does not go on any
/// more; then other workers take over the jobs of this one.
pub async fn run(
    config: &Config,
    live: LiveConfig,
    database: Database,
    uploads: UploadStore,
    shutdown: Shutdown,
    ready: impl FnOnce(),
) -> Result<(), WorkerError> {
    let exporter = measure::start(config).await?;
    let (models, registry) = Models::open(config).await?;
    let models = Arc::new(models);
    let (db, name) = (database.pool.clone(), name());
    let orders = store::beat(&db, &name, &models.serving()).await?;
    let tracker = TaskTracker::new();
    let endings = Endings::start(&db, uploads.clone());
    let stuck = CancellationToken::new();
    let inputs = Arc::new(StreamWakeups::default());
    let attempts = Arc::new(Attempts {
        db: db.clone(),
        endings: endings.clone(),
        uploads: uploads.clone(),
        downloads: Arc::new(Downloads::new(UrlRules::new(config.webhook_networks()))),
        models: models.clone(),
        streams: Streams::start(&db, inputs.clone()),
        live: live.clone(),
        stuck: stuck.clone(),
        tracker: tracker.clone(),
        shutdown: shutdown.clone(),
    });
    let places = |queue| ConsumerConfig::of(queue, config).places;
    let (claims, dropped) = Claims::start(&db, name.clone(), &QUEUES, places);
    let held = claims.all_held();
    held.apply(&orders);
    let exports = exporter.serve(Measured { database: database.clone(), held: held.clone() });
    let wakeups = Arc::new(Wakeups::new(&QUEUES));
    let helpers = TaskTracker::new();
    helpers.spawn(listen(database.clone(), wakeups.clone(), inputs, shutdown.clone()));
    helpers.spawn(models.clone().follow(registry, shutdown.clone()));
    let (written, heartbeats) = watch::channel(0);
    let (compared, times) = watch::channel(None);
    let sweeper = Sweeper::new(db.clone(), claims.clone(), endings, compared);
    helpers.spawn(sweeper.sweep(heartbeats, live.clone(), shutdown.clone()));
    helpers.spawn(expire(db.clone(), times, live, shutdown.clone()));
    helpers.spawn(record_minutes(db.clone(), shutdown.clone()));
    helpers.spawn(sweep_uploads(Orphans::new(uploads.clone()), db.clone(), shutdown.clone()));
    let last_beat = CancellationToken::new();
    let heart =
        tokio::spawn(heartbeat(db.clone(), name.clone(), models.clone(), held, written, last_beat.clone()));
    let consumers = Arc::new(Consumers { attempts: attempts.clone(), claims, wakeups });
    for queue in QUEUES {
        helpers.spawn(consumers.clone().consume(queue));
    }
    drop(consumers); // the `dropped` channel closes when the last consumer is gone
    helpers.spawn(attempt_dropped(dropped, attempts));
    tracing::info!(worker = %name, "worker ready");
    ready();
    let is_stuck = tokio::select! {
        () = shutdown.soft.cancelled() => false,
        () = stuck.cancelled() => return Err(WorkerError::Stuck),
        () = models.decoding_turns().stuck() => true,
    };
    if is_stuck {
        // Its job has ended, so the jobs beside it go back to their queues as they do when a worker stops.
        tracing::error!("a thread that decodes a recording does not go on: ending this worker");
        let shutdown = shutdown.clone();
        tokio::spawn(async move { shutdown.give_up().await });
    }
    helpers.close();
    tokio::select! {
        () = async { helpers.wait().await; tracker.close(); tracker.wait().await } => (),
        () = shutdown.hard.cancelled() => {
            tracing::warn!("stopping with unfinished jobs: other workers will take them over");
        }
    }
    tokio::select! { () = uploads.deletions_tried() => (), () = shutdown.hard.cancelled() => () }
    last_beat.cancel();
    tokio::select! { _ = heart => (), () = shutdown.hard.cancelled() => () }
    let left = tokio::select! {
        left = store::leave(&db, &name) => left.map_err(|error| error.to_string()),
        () = shutdown.hard.cancelled() => Err("the worker had to stop".to_owned()),
    };
    if let Err(error) = left {
        tracing::warn!(error, "could not remove this worker from the list of workers: a sweeper will do it");
    }
    exports.finish().await;
    if is_stuck { Err(WorkerError::Stuck) } else { Ok(()) }
}

/// Wakes the consumers whenever Postgres announces queued jobs, and attempts whenever it announces input of their streams, until a soft
/// shutdown.
async fn listen(database: Database, wakeups: Arc<Wakeups>, streams: Arc<StreamWakeups>, shutdown: Shutdown) {
    let on_event = |event: Event<'_>| match event {
        // Announcements may have been missed before the connection.
        Event::Missed => {
            wakeups.wake_all();
            streams.wake_all();
        }
        Event::Notified { channel: store::STREAM_INPUTS, payload } => streams.announce(payload),
        Event::Notified { payload, .. } => wakeups.announce(payload),
    };
    tokio::select! {
        () = database.listen(&[store::JOBS_QUEUED, store::STREAM_INPUTS], on_event) => (),
        () = shutdown.soft.cancelled() => (),
    }
}

/// Records what happens in the queues in each minute, until a soft shutdown. A minute without an api is recorded too then.
async fn record_minutes(db: Pool, shutdown: Shutdown) {
    tokio::select! {
        () = akhar_operators::minutes::record_minutes(db) => (),
        () = shutdown.soft.cancelled() => (),
    }
}

/// Runs the jobs that were claimed but whose consumer ended before it started their attempts.
async fn attempt_dropped(mut dropped: UnboundedReceiver<ClaimedJob>, attempts: Arc<Attempts>) {
    while let Some(job) = dropped.recv().await {
        tracing::debug!(job = %job.claimed.fence.job, "starting a claimed job whose consumer ended");
        let tracker = attempts.tracker.clone();
        tracker.spawn(attempts.clone().attempt(job));
    }
}

/// A unique name for this worker.
fn name() -> String {
    format!("{}{}", name_start(std::process::id()), Uuid::now_v7())
}

/// What the names of the workers of a process on this machine begin with: host name and process id.
pub fn name_start(process: u32) -> String {
    format!("{}-{process}-", host::name())
}
