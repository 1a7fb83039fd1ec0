//! This worker's heartbeat.

use akhar_jobs::store;
use sqlx::PgPool;
use tokio::{
    sync::watch,
    time::{Interval, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use super::contact::{BEAT, Contact};

/// Once a [`BEAT`]; what was missed is not made up for.
pub(super) fn beats() -> Interval {
    let mut beats = interval(BEAT);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    beats
}

/// Says that `worker` is alive until told to stop, and never in the middle of a beat: one still on its way
/// could arrive after the worker has signed off. A database that is away is tried again at the next beat.
pub(crate) async fn heartbeat(
    db: PgPool,
    worker: String,
    contact: watch::Sender<Contact>,
    stop: CancellationToken,
) {
    let mut ticks = beats();
    loop {
        tokio::select! {
            _ = ticks.tick() => (),
            () = stop.cancelled() => return,
        }
        match store::beat(&db, &worker).await {
            Ok(()) => contact.send_modify(Contact::beat),
            Err(error) => tracing::warn!(%error, "heartbeat failed"),
        }
    }
}
