//! The sweeper returns jobs to their queues whose worker died or whose claim was lost.

use std::time::Duration;

use akhar_jobs::{
    JobId, JobState,
    backend::{BatchError, Claims, Endings},
    store::{self, EndedFacts, Ending, Requeue, RunningJob},
};
use akhar_platform::database::Pool;
use akhar_platform::{config::Config, metrics, reload::LiveConfig, shutdown::Shutdown, telemetry::JOB_ENDED};
use akhar_requests::QUEUES;
use chrono::{DateTime, Utc};
use futures::future::try_join_all;
use tokio::{sync::watch, time::Instant};

use super::{clock_watch::ClockWatch, silence::Silence};
use crate::attempts::ConsumerConfig;

/// A running job counts as lost by its worker this long after the longest time that an attempt can take.
const GRACE: Duration = Duration::from_secs(60);

/// How long a suspect waits after another death, so that suspects that wait behind it run before it.
const SUSPECT_DELAY: Duration = Duration::from_secs(1);

/// The cause and the error code of jobs whose worker died or lost them.
const WORKER_LOST: &str = "worker-lost";

/// How many heartbeats a worker may miss before it counts as dead.
const DEAD_AFTER_MISSED: u32 = 3;

/// How many heartbeats a worker may miss before it is deleted from the list of workers.
const FORGOTTEN_AFTER_MISSED: u32 = 60;

/// How many sweeps there are from one comparison of times to the next. The first comes after [`FIRST_COMPARISON`] sweeps, so
/// that other workers have recorded a jump of the clock that this one cannot know.
const COMPARE_EVERY: u32 = 60;

/// The number of the first sweep that compares times.
const FIRST_COMPARISON: u32 = 5;

/// Sweeps after each heartbeat of this worker. Several processes may sweep at the same time, because every change is
/// guarded.
pub(crate) struct Sweeper {
    db: Pool,
    claims: Claims,
    endings: Endings,
    silence: Silence,
    clock_watch: ClockWatch,
    /// The times at which old rows may be deleted: those of the database that are compared here.
    compared: watch::Sender<Option<DateTime<Utc>>>,
}

impl Sweeper {
    pub(crate) fn new(
        db: Pool,
        claims: Claims,
        endings: Endings,
        compared: watch::Sender<Option<DateTime<Utc>>>,
    ) -> Self {
        let (silence, clock_watch) = (Silence::default(), ClockWatch::default());
        Self { db, claims, endings, silence, clock_watch, compared }
    }

    /// Sweeps until a soft shutdown, whenever `heartbeats` says that a heartbeat of this worker was written. It has the
    /// number of gaps in them. After a gap, the heartbeats of other workers may be missing for the same reason, so they are
    /// counted anew.
    pub(crate) async fn sweep(
        mut self,
        mut heartbeats: watch::Receiver<u32>,
        live: LiveConfig,
        shutdown: Shutdown,
    ) {
        let mut n_gaps = 0;
        for n_sweeps in 0_u32.. {
            tokio::select! {
                written = heartbeats.changed() => if written.is_err() { return },
                () = shutdown.soft.cancelled() => return,
            }
            if let Err(error) = self.requeue_unheld().await {
                tracing::warn!(%error, "could not return this worker's lost claims to their queues");
            }
            let n_gaps_now = *heartbeats.borrow_and_update();
            if n_gaps != n_gaps_now {
                n_gaps = n_gaps_now;
                self.silence = Silence::default();
            }
            let found_at = match self.look().await {
                Ok(found_at) => found_at,
                Err(error) => {
                    tracing::warn!(%error, "could not read the heartbeats of the workers");
                    continue;
                }
            };
            if let Err(error) = self.requeue_lost().await {
                tracing::warn!(%error, "could not return the jobs of dead workers to their queues");
            }
            if n_sweeps % COMPARE_EVERY == FIRST_COMPARISON
                && let Some(found_at) = found_at
                && let Err(error) = self.compare_times(found_at, &live.now()).await
            {
                tracing::warn!(%error, "could not return overdue jobs to their queues");
            }
        }
    }

    /// Looks at the heartbeats of all workers and at the clock of the database, and records it if that has jumped ahead.
    /// Returns its time, or `None` if there are no workers.
    async fn look(&mut self) -> Result<Option<DateTime<Utc>>, sqlx::Error> {
        let began = Instant::now();
        let heartbeats = store::heartbeats(&self.db).await?;
        let Some(found_at) = heartbeats.first().map(|heartbeat| heartbeat.found_at) else { return Ok(None) };
        if let Some(jump) = self.clock_watch.jump(found_at) {
            store::record_clock_jump(&self.db, jump).await?;
            tracing::warn!(
                from = %jump.jumped_from, to = %jump.jumped_to,
                "the database's clock jumped ahead: the skipped time does not count for the retention of jobs"
            );
        }
        self.clock_watch.remember(began, found_at);
        self.silence.look(heartbeats);
        Ok(Some(found_at))
    }

    /// Returns jobs that have run for too long, makes jobs due that would wait for too long, forgets workers, and lets old jobs be
    /// deleted.
    async fn compare_times(&self, now: DateTime<Utc>, config: &Config) -> Result<(), BatchError> {
        let clock = store::clock(&self.db, now).await?;
        let after = |queue| ConsumerConfig::longest_attempt(queue, config).saturating_add(GRACE);
        let limits = QUEUES.map(|queue| (queue, after(queue)));
        let overdue = store::overdue(&self.db, &clock, &limits).await?;
        self.requeue_or_fail(overdue, WORKER_LOST, "the job's worker lost the job", false).await?;
        store::make_due(&self.db).await?;
        self.compared.send_replace(Some(now));
        Ok(store::forget_workers(&self.db, &self.silence.of_workers_silent_for(FORGOTTEN_AFTER_MISSED))
            .await?)
    }

    /// Returns the jobs that the database says this worker is running, but that it does not hold: the answer
    /// to their claim was lost.
    async fn requeue_unheld(&self) -> Result<(), BatchError> {
        let unheld = self.claims.unheld().await?;
        if !unheld.is_empty() {
            tracing::warn!(
                n = unheld.len(),
                "claims did not reach this worker: returning the jobs to their queues"
            );
        }
        let error = "the job's claim was lost on the way to its worker";
        self.requeue_or_fail(unheld, "claim-lost", error, true).await
    }

    /// Returns the jobs of dead workers.
    async fn requeue_lost(&self) -> Result<(), BatchError> {
        let silent = self.silence.of_workers_silent_for(DEAD_AFTER_MISSED);
        if silent.is_empty() {
            return Ok(());
        }
        let orphans = store::lost(&self.db, &silent).await?;
        if !orphans.is_empty() {
            tracing::warn!(n = orphans.len(), "returning the jobs of dead workers to their queues");
        }
        self.requeue_or_fail(orphans, WORKER_LOST, "the job's worker died or lost the job", true).await
    }

    /// Returns jobs to their queues, or fails those that have no attempt left. The death of a worker (`is_death`) counts as an
    /// attempt only of suspects, because it runs one of them at a time: of the other jobs nobody knows which has caused it.
    async fn requeue_or_fail(
        &self,
        jobs: Vec<RunningJob>,
        cause: &'static str,
        error: &str,
        is_death: bool,
    ) -> Result<(), BatchError> {
        let back = jobs.into_iter().map(async |RunningJob { fence, is_last_attempt, is_suspect }| {
            let is_spent = is_suspect || !is_death;
            if is_spent && is_last_attempt {
                let error = format!("{error}, and no attempts are left");
                let has_ended = self.endings.end(Ending::dead(fence, error, true)).await?;
                Ok::<_, BatchError>(has_ended.then_some(fence.job))
            } else {
                let delay = if is_death && is_suspect { SUSPECT_DELAY } else { Duration::ZERO };
                let requeue = Requeue { fence, is_spent, is_death, delay, error: error.to_owned() };
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
}
