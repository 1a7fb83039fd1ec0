//! Deletes uploads outside the database whose jobs have ended or were never submitted.

use std::time::Duration;

use akhar_jobs::uploads::Orphans;
use akhar_platform::database::Pool;
use akhar_platform::shutdown::Shutdown;
use tokio::time::{MissedTickBehavior, interval};

/// The time from one listing of the store to the next. Listing costs a request for each 1,000 uploads.
const INTERVAL: Duration = Duration::from_secs(60);

/// Looks for such uploads once a minute until a soft shutdown. Several processes may do so at the same time, because
/// deleting an object twice is harmless.
pub(crate) async fn sweep_uploads(mut orphans: Orphans, db: Pool, shutdown: Shutdown) {
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => (),
            () = shutdown.soft.cancelled() => return,
        }
        let pass = tokio::select! {
            pass = orphans.pass(&db) => pass,
            () = shutdown.soft.cancelled() => return,
        };
        match pass {
            Ok(0) => (),
            Ok(n) => tracing::info!(n, "deleted uploads that no job needs"),
            Err(error) => tracing::warn!(%error, "could not look for uploads that no job needs"),
        }
    }
}
