//! Writes this worker's heartbeats to the database, and reads from it whether the worker may claim jobs.

use std::{sync::Arc, time::Duration};

use akhar_jobs::{
    backend::{HeldByQueue, silent_statement},
    store,
};
use akhar_platform::database::Pool;
use tokio::{
    sync::watch,
    time::{Instant, MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use crate::models::Models;

/// The time between two heartbeats.
const INTERVAL: Duration = Duration::from_secs(1);

/// The longest time between two of this worker's own heartbeats that is no gap.
const MAX_GAP: Duration = Duration::from_secs(2);

/// Writes heartbeats of `worker` until `stop`, and pauses the queues of which it may claim no jobs. When the database cannot be reached, the next try is the next
/// heartbeat. A worker whose claims or ends get no answer does not count as living: it writes none either.
///
/// `written` is sent the number of gaps in these heartbeats so far, after each of them.
///
/// `stop` never interrupts a heartbeat that is being written: it could otherwise arrive after the worker has
/// removed itself from the list of workers.
pub(crate) async fn heartbeat(
    db: Pool,
    worker: String,
    models: Arc<Models>,
    held: HeldByQueue,
    written: watch::Sender<u32>,
    stop: CancellationToken,
) {
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut last = Instant::now();
    loop {
        tokio::select! {
            _ = ticks.tick() => (),
            () = stop.cancelled() => return,
        }
        if let Some(statement) = silent_statement() {
            tracing::warn!(statement, "no heartbeat: the database has not answered a statement on jobs");
            continue;
        }
        match store::beat(&db, &worker, &models.serving()).await {
            Ok(orders) => {
                held.apply(&orders);
                let was_gap = last.elapsed() > MAX_GAP;
                last = Instant::now();
                written.send_modify(|n_gaps| *n_gaps += u32::from(was_gap));
            }
            Err(error) => tracing::warn!(%error, "heartbeat failed"),
        }
    }
}
