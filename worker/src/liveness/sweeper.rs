//! The sweeper returns jobs to their queues whose worker died or whose claim was lost, and deletes old jobs.

use std::time::Duration;

use akhar_jobs::{
    Fence, JobId, JobState,
    backend::{Claims, Endings, GroupError},
    store::{self, EndedFacts, Ending, Lost, Requeue},
};
use akhar_platform::{metrics, reload::LiveConfig, shutdown::Shutdown, telemetry::JOB_ENDED};
use futures::future::try_join_all;
use sqlx::PgPool;
use tokio::sync::watch;

use super::{contact::Contact, heartbeat::ticks};

/// A running job counts as lost by its worker this long after the time limit of its attempt.
const GRACE: Duration = Duration::from_secs(60);

/// The cause and the error code of jobs whose worker died or lost them.
const WORKER_LOST: &str = "worker-lost";

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
    pub(crate) async fn sweep(self, live: LiveConfig, shutdown: Shutdown) {
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
            let config = live.now();
            let after = |timeout_s| Duration::from_secs(timeout_s) + GRACE;
            let lost = Lost {
                silence: store::DEAD_AFTER,
                quick: after(config.quick_timeout_s),
                speech: after(config.speech_timeout_s),
            };
            if let Err(error) = self.requeue_lost(lost).await {
                tracing::warn!(%error, "could not return the jobs of dead workers to their queues");
            }
            if n_sweeps.is_multiple_of(EXPIRE_EVERY) {
                self.expire([config.retention_s, config.dead_retention_s].map(Duration::from_secs)).await;
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
        self.requeue_or_fail(unheld, "claim-lost", "the job's claim was lost on the way to its worker").await
    }

    /// Returns the jobs of dead workers, and jobs that have run for too long.
    async fn requeue_lost(&self, lost: Lost) -> Result<(), GroupError> {
        let orphans = store::lost(&self.db, lost).await?;
        if !orphans.is_empty() {
            tracing::warn!(n = orphans.len(), "returning the jobs of dead workers to their queues");
        }
        self.requeue_or_fail(orphans, WORKER_LOST, "the job's worker died or lost the job").await
    }

    /// Returns jobs to their queues, or fails those that have no attempt left. Each job comes with whether
    /// its attempt was the last one.
    async fn requeue_or_fail(
        &self,
        jobs: Vec<(Fence, bool)>,
        cause: &'static str,
        error: &str,
    ) -> Result<(), GroupError> {
        let back = jobs.into_iter().map(async |(fence, is_last_attempt)| {
            if is_last_attempt {
                let error = format!("{error}, and no attempts are left");
                let has_ended = self.endings.end(Ending::dead(fence, error, true)).await?;
                Ok::<_, GroupError>(has_ended.then_some(fence.job))
            } else {
                let requeue = Requeue { fence, delay: Duration::ZERO, error: error.to_owned() };
                if self.endings.requeue(requeue).await? {
                    metrics::RESCUED_JOBS.add_one([cause]);
                }
                Ok(None)
            }
        });
        let dead: Vec<JobId> = try_join_all(back).await?.into_iter().flatten().collect();
        if !dead.is_empty() {
            self.report_dead(&dead).await;
        }
        Ok(())
    }

    /// Counts and logs jobs that failed because the worker of their last attempt was lost.
    async fn report_dead(&self, dead: &[JobId]) {
        let facts = store::ended_facts(&self.db, dead).await.unwrap_or_else(|error| {
            tracing::error!(%error, jobs = ?dead, "jobs failed for good, and cannot be read for the log");
            Vec::new()
        });
        for EndedFacts { id, account_id, operation, request_id, attempt, wait_ms, run_ms } in facts {
            tracing::error!(
                job = %id, %request_id, account = %account_id, operation, attempt, wait_ms, run_ms,
                state = JobState::Failed.name(), code = WORKER_LOST, "{JOB_ENDED}"
            );
        }
        metrics::DEAD_JOBS.add([WORKER_LOST], u64::try_from(dead.len()).unwrap_or(u64::MAX));
    }

    async fn expire(&self, [ended, dead]: [Duration; 2]) {
        match store::expire(&self.db, ended, dead).await {
            Ok(0) => (),
            Ok(n) => tracing::info!(n, "deleted jobs that ended longer ago than the retention time"),
            Err(error) => tracing::warn!(%error, "could not delete old jobs"),
        }
    }
}
