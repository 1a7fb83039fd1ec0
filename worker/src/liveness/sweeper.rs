//! The sweeper returns jobs to their queues whose worker died or whose claim was lost, and deletes old jobs.

use std::time::Duration;

use akhar_jobs::{
    Fence, Outcome,
    backend::{Claims, Endings, GroupError},
    store::{self, Ending, Guard, Lost, Requeue},
};
use akhar_platform::{config::Config, shutdown::Shutdown};
use futures::future::try_join_all;
use sqlx::PgPool;
use tokio::sync::watch;

use super::{contact::Contact, heartbeat::ticks};

/// A running job counts as lost by its worker this long after the time limit of its attempt.
const GRACE: Duration = Duration::from_secs(60);

/// How many sweeps there are from one deletion of old jobs to the next.
const EXPIRE_EVERY: u32 = 60;

/// What a sweep needs. Several processes may sweep at the same time, because every change is guarded.
pub(crate) struct Sweeper {
    pub(crate) db: PgPool,
    pub(crate) claims: Claims,
    pub(crate) endings: Endings,
    pub(crate) contact: watch::Receiver<Contact>,
}

impl Sweeper {
    /// Sweeps once a second until a soft shutdown.
    pub(crate) async fn sweep(self, config: Config, shutdown: Shutdown) {
        let after = |timeout_s| Duration::from_secs(timeout_s) + GRACE;
        let lost = Lost {
            silence: store::DEAD_AFTER,
            quick: after(config.quick_timeout_s),
            speech: after(config.speech_timeout_s),
        };
        let retention = Duration::from_secs(config.retention_s);
        let mut ticks = ticks();
        for n_sweeps in 0_u32.. {
            tokio::select! {
                _ = ticks.tick() => (),
                () = shutdown.soft.cancelled() => return,
            }
            if let Err(error) = self.requeue_unheld().await {
                tracing::warn!(%error, "could not return this worker's lost claims to their queues");
            }
            if !self.contact.borrow().is_reliable() {
                continue;
            }
            if let Err(error) = self.requeue_lost(lost).await {
                tracing::warn!(%error, "could not return the jobs of dead workers to their queues");
            }
            if n_sweeps.is_multiple_of(EXPIRE_EVERY) {
                self.expire(retention).await;
            }
        }
    }

    /// Returns the jobs that the database says this worker is running, but that it does not hold: the answer
    /// to their claim was lost.
    async fn requeue_unheld(&self) -> Result<(), GroupError> {
        let unheld = self.claims.unheld().await?;
        if !unheld.is_empty() {
            tracing::warn!(
                n = unheld.len(),
                "claims did not reach this worker: returning the jobs to their queues"
            );
        }
        self.requeue_or_fail(unheld, "the job's claim was lost on the way to its worker").await
    }

    /// Returns the jobs of dead workers, and jobs that have run for too long.
    async fn requeue_lost(&self, lost: Lost) -> Result<(), GroupError> {
        let orphans = store::lost(&self.db, lost).await?;
        if !orphans.is_empty() {
            tracing::warn!(n = orphans.len(), "returning the jobs of dead workers to their queues");
        }
        self.requeue_or_fail(orphans, "the job's worker died or lost the job").await
    }

    /// Returns jobs to their queues, or fails those that have no attempt left. Each job comes with whether
    /// its attempt was the last one.
    async fn requeue_or_fail(&self, jobs: Vec<(Fence, bool)>, error: &str) -> Result<(), GroupError> {
        let back = jobs.into_iter().map(async |(fence, is_last_attempt)| {
            if is_last_attempt {
                let error = Some(format!("{error}, and no attempts are left"));
                let (guard, outcome) = (Guard::Claimed(fence), Some(Outcome::Failed));
                self.endings.end(Ending { guard, outcome, timing: None, error }).await
            } else {
                let (delay, error) = (Duration::ZERO, error.to_owned());
                self.endings.requeue(Requeue { fence, delay, error }).await
            }
        });
        try_join_all(back).await.map(drop)
    }

    async fn expire(&self, retention: Duration) {
        match store::expire(&self.db, retention).await {
            Ok(0) => (),
            Ok(n) => tracing::info!(n, "deleted jobs that ended longer ago than the retention time"),
            Err(error) => tracing::warn!(%error, "could not delete old jobs"),
        }
    }
}
