//! Deletes old jobs and what else is kept for a time, beside the sweeper, which must not wait for it.

use std::time::Duration;

use akhar_jobs::store;
use akhar_platform::{database::Pool, reload::LiveConfig, shutdown::Shutdown};
use chrono::{DateTime, Utc};
use tokio::sync::watch;

/// Deletes until a soft shutdown, whenever the sweeper has compared times at `compared`, a time of the database up to which its
/// clock has no jump that nobody knows. Deletes nothing if the database is quiet. Several processes may do so at the same time.
pub(crate) async fn expire(
    db: Pool,
    mut compared: watch::Receiver<Option<DateTime<Utc>>>,
    live: LiveConfig,
    shutdown: Shutdown,
) {
    let expiring = async {
        while compared.changed().await.is_ok() {
            let Some(now) = *compared.borrow_and_update() else { continue };
            if let Err(error) = expire_at(&db, now, &live).await {
                tracing::warn!(%error, "could not delete old jobs");
            }
        }
    };
    tokio::select! { () = expiring => (), () = shutdown.soft.cancelled() => () }
}

async fn expire_at(db: &Pool, now: DateTime<Utc>, live: &LiveConfig) -> Result<(), sqlx::Error> {
    if store::is_quiet(db).await? {
        return Ok(());
    }
    let config = live.now();
    let ended = Duration::from_secs(config.retention_s);
    let dead = ended.saturating_mul(7);
    let clock = store::clock(db, now).await?;
    let n = store::expire(db, &clock, ended, dead).await?;
    if n > 0 {
        tracing::info!(n, "deleted jobs that ended longer ago than the retention time");
    }
    Ok(())
}
