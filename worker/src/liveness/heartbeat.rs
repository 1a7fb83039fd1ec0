//! Writes this worker's heartbeats to the database, and reads from it whether the worker may claim jobs.

use akhar_jobs::{backend::HeldByQueue, store};
use sqlx::PgPool;
use tokio::{
    sync::watch,
    time::{Interval, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use super::contact::{Contact, HEARTBEAT_INTERVAL};

/// Ticks once in each [`HEARTBEAT_INTERVAL`]. Missed ticks are not made up for.
pub(super) fn ticks() -> Interval {
    let mut ticks = interval(HEARTBEAT_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// Writes heartbeats of `worker` until `stop`, and pauses the queues of which it may claim no jobs. When the database cannot be reached, the next try is the next
/// heartbeat.
///
/// `stop` never interrupts a heartbeat that is being written: it could otherwise arrive after the worker has
/// removed itself from the list of workers.
pub(crate) async fn heartbeat(
    db: PgPool,
    worker: String,
    held: HeldByQueue,
    contact: watch::Sender<Contact>,
    stop: CancellationToken,
) {
    let mut ticks = ticks();
    loop {
        tokio::select! {
            _ = ticks.tick() => (),
            () = stop.cancelled() => return,
        }
        match store::beat(&db, &worker).await {
            Ok(orders) => {
                held.apply(&orders);
                contact.send_modify(Contact::heartbeat_written);
            }
            Err(error) => tracing::warn!(%error, "heartbeat failed"),
        }
    }
}
