//! Sweeping: jobs of dead workers, and claims that this worker lost, go back to their queues; old jobs go.

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

use super::{
    contact::{Contact, SILENCE},
    heartbeat::beats,
};

/// What a job may take beyond its attempt's time before it counts as lost by its worker.
const GRACE: Duration = Duration::from_secs(60);

/// Sweeps between two deletions of old jobs.
const EXPIRE_EVERY: u32 = 60;

/// What sweeping needs. Any number of processes may sweep at once: every change is guarded.
pub(crate) struct Sweeper {
    pub(crate) db: PgPool,
    pub(crate) claims: Claims,
    pub(crate) endings: Endings,
    pub(crate) contact: watch::Receiver<Contact>,
}

impl Sweeper {
    /// Sweeps once a second until told to stop.
    pub(crate) async fn sweep(self, config: Config, shutdown: Shutdown) {
        let after = |timeout_s| Duration::from_secs(timeout_s) + GRACE;
        let lost = Lost {
            silence: SILENCE,
            quick: after(config.quick_timeout_s),
            speech: after(config.speech_timeout_s),
        };
        let retention = Duration::from_secs(config.retention_s);
        let mut ticks = beats();
        for n_sweeps in 0_u32.. {
            tokio::select! {
                _ = ticks.tick() => (),
                () = shutdown.soft.cancelled() => return,
            }
            if let Err(error) = self.give_back_unheld().await {
                tracing::warn!(%error, "could not look for claims lost on the way");
            }
            if !self.contact.borrow().is_steady() {
                continue;
            }
            if let Err(error) = self.rescue(lost).await {
                tracing::warn!(%error, "could not look for the jobs of dead workers");
            }
            if n_sweeps.is_multiple_of(EXPIRE_EVERY) {
                self.expire(retention).await;
            }
        }
    }

    /// Returns what runs in this worker's name and is not held here.
    async fn give_back_unheld(&self) -> Result<(), GroupError> {
        let unheld = self.claims.unheld().await?;
        if !unheld.is_empty() {
            tracing::warn!(n = unheld.len(), "claims were lost on the way: giving them back");
        }
        self.give_back(unheld, "its claim was lost on the way to its worker").await
    }

    /// Returns the jobs of dead workers.
    async fn rescue(&self, lost: Lost) -> Result<(), GroupError> {
        let orphans = store::lost(&self.db, lost).await?;
        if !orphans.is_empty() {
            tracing::warn!(n = orphans.len(), "rescuing the jobs of dead workers");
        }
        self.give_back(orphans, "its worker died or lost it").await
    }

    /// Returns jobs to their queues, or fails those whose attempts are spent.
    async fn give_back(&self, jobs: Vec<(Fence, bool)>, error: &str) -> Result<(), GroupError> {
        let back = jobs.into_iter().map(async |(fence, is_last_attempt)| {
            if is_last_attempt {
                let error = Some(format!("{error}, and it had no attempt left"));
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
            Ok(n) => tracing::info!(n, "deleted jobs past their retention"),
            Err(error) => tracing::warn!(%error, "could not delete old jobs"),
        }
    }
}
