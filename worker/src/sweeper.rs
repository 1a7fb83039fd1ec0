//! The worker's own clockwork: it says it is alive, frees what dead workers held, and forgets old jobs.

use std::time::Duration;

use akhar_jobs::store::{self, Lost, Swept};
use akhar_platform::{config::Config, database::Database, shutdown::Shutdown};
use tokio_util::sync::CancellationToken;

/// Between two heartbeats, and between two looks for orphans.
const BEAT: Duration = Duration::from_secs(1);

/// A worker silent for this long is dead: three beats.
pub(crate) const SILENCE: Duration = Duration::from_secs(3);

/// What a job may take beyond its attempt's time before it counts as lost by its worker.
const GRACE: Duration = Duration::from_secs(60);

/// Sweeps for orphans between two deletions of old jobs.
const EXPIRE_EVERY: u32 = 60;

/// Says that `worker` is alive until told to stop, and never in the middle of a beat: one still on its way
/// could arrive after the worker has signed off. A database that is away is tried again at the next beat.
pub(crate) async fn heartbeat(database: Database, worker: String, stop: CancellationToken) {
    let mut ticks = tokio::time::interval(BEAT);
    loop {
        tokio::select! {
            _ = ticks.tick() => (),
            () = stop.cancelled() => return,
        }
        if let Err(error) = store::beat(&database.volatile, &worker).await {
            tracing::warn!(%error, "heartbeat failed");
        }
    }
}

/// Sweeps until told to stop.
pub(crate) async fn sweep(database: Database, config: Config, shutdown: Shutdown) {
    let after = |timeout_s| Duration::from_secs(timeout_s) + GRACE;
    let lost = Lost {
        silence: SILENCE,
        quick: after(config.quick_timeout_s),
        speech: after(config.speech_timeout_s),
    };
    let mut ticks = tokio::time::interval(BEAT);
    let mut n_sweeps = 0_u32;
    loop {
        tokio::select! {
            _ = ticks.tick() => (),
            () = shutdown.soft.cancelled() => return,
        }
        match store::rescue(&database.durable, lost).await {
            Ok(swept) if swept != Swept::default() => {
                tracing::warn!(swept.n_rescued, swept.n_given_up, "freed the jobs of dead workers");
            }
            Ok(_) => (),
            Err(error) => tracing::warn!(%error, "sweep failed"),
        }
        if n_sweeps.is_multiple_of(EXPIRE_EVERY) {
            expire(&database, config.retention_s).await;
        }
        n_sweeps = n_sweeps.wrapping_add(1);
    }
}

async fn expire(database: &Database, retention_s: u64) {
    match store::expire(&database.durable, Duration::from_secs(retention_s)).await {
        Ok(0) => (),
        Ok(n) => tracing::info!(n, "forgot jobs past their retention"),
        Err(error) => tracing::warn!(%error, "could not forget old jobs"),
    }
}
