//! One attempt at a claimed job. The attempt runs the job within its time limit and then ends the job,
//! returns it to its queue for another attempt, or fails it for good. The claim guards each of these writes.

use std::{sync::Arc, time::Duration};

use akhar_jobs::{
    Fence, Outcome, Timing,
    backend::{ClaimedJob, Endings},
    store::{self, Claimed, Ending, Guard, Requeue},
};
use akhar_platform::{config::Config, shutdown::Shutdown};
use sqlx::PgPool;
use tokio::{sync::watch, time::MissedTickBehavior};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use tracing::Instrument as _;

use super::{backoff, config::ConsumerConfig, retry::retry_until_shutdown};
use crate::{models::Models, operations::Progress};

/// The shortest time between two writes of a job's progress.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// What every attempt needs.
pub(crate) struct Attempts {
    /// Takes the writes of progress, which need not be flushed to disk.
    pub(crate) db: PgPool,
    pub(crate) endings: Endings,
    pub(crate) models: Arc<Models>,
    pub(crate) config: Config,
    /// Counts running attempts, so that a soft shutdown can wait for them. At the deadline of the shutdown they return
    /// their jobs to their queues.
    pub(crate) tracker: TaskTracker,
    pub(crate) shutdown: Shutdown,
}

/// The result of running a job once.
enum AttemptResult {
    /// An answer for the caller, or the reason why its input was rejected.
    Outcome(Outcome, Timing),
    /// The attempt failed. The text gives the cause, for operators.
    Failed(String),
}

impl Attempts {
    /// Runs one attempt at a claimed job in a task of its own. So the attempt goes on when the caller is
    /// dropped, and a panic in the attempt does not reach the caller.
    pub(crate) async fn attempt(self: Arc<Self>, job: ClaimedJob) {
        let tracker = self.tracker.clone();
        let ClaimedJob { claimed, hold } = job;
        let span = tracing::info_span!(
            "job",
            job = %claimed.fence.job,
            attempt = claimed.fence.attempt,
            request_id = %claimed.request_id,
            traceparent = claimed.traceparent.as_deref(),
        );
        let attempt = async move {
            self.work(claimed).await;
            drop(hold);
        };
        let _ = tracker.spawn(attempt.instrument(span)).await; // the panic hook has logged a panic
    }

    async fn work(self: Arc<Self>, mut claimed: Claimed) {
        let (fence, operation) = (claimed.fence, claimed.parameters.operation().name());
        let upload = claimed.upload.take();
        let parameters = claimed.parameters;
        let timeout = ConsumerConfig::of(claimed.queue, &self.config).timeout;
        let pipeline = self.models.pipeline();
        let (progress, seen) = watch::channel(Progress::default());
        let work = async move {
            let work = pipeline.work(fence.job, &parameters, upload, &progress);
            match tokio::time::timeout(timeout, work).await {
                Ok(Ok((outcome, timing))) => AttemptResult::Outcome(outcome, timing),
                Ok(Err(error)) => AttemptResult::Failed(error.to_string()),
                Err(_) => AttemptResult::Failed(format!("the attempt took longer than {timeout:?}")),
            }
        };
        // The work has a task of its own, so that a panic in it counts as a failed attempt.
        let working = AbortOnDropHandle::new(tokio::spawn(work.in_current_span()));
        let worked = async {
            let is_current = self.note_progress(fence, seen).await;
            if is_current { Some(working.await) } else { None } // dropping the handle stops the work
        };
        let worked = tokio::select! {
            worked = worked => worked,
            () = self.shutdown.deadline.cancelled() => return self.hand_back(fence, operation).await,
        };
        let Some(worked) = worked else {
            tracing::info!(
                operation,
                "attempt stopped: the job was cancelled, claimed again or queued again"
            );
            return;
        };
        let failed = |panic| AttemptResult::Failed(format!("the attempt panicked: {panic}"));
        match worked.unwrap_or_else(failed) {
            AttemptResult::Outcome(outcome, timing) => {
                let Timing { decode_us, infer_us } = timing;
                let kind = if outcome.is_answer() { "answered" } else { "rejected" };
                if self.end(fence, outcome, Some(timing), None).await {
                    tracing::info!(operation, decode_us, infer_us, outcome = kind, "job finished");
                }
            }
            AttemptResult::Failed(error) if claimed.is_last_attempt => {
                tracing::error!(operation, error, "job failed for good: no attempts are left");
                self.end(fence, Outcome::Failed, None, Some(error)).await;
            }
            AttemptResult::Failed(error) => self.try_again(fence, operation, error).await,
        }
    }

    /// Writes the job's progress to the database, at most once a second, until its work is over. Progress is
    /// informative only, so a failed write is logged. The next one includes its segments. Returns `false` as soon as a
    /// write finds that the claim is no longer current.
    async fn note_progress(&self, fence: Fence, mut seen: watch::Receiver<Progress>) -> bool {
        let mut n_written = 0;
        let mut ticks = tokio::time::interval(PROGRESS_INTERVAL);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while seen.changed().await.is_ok() {
            tokio::select! {
                _ = ticks.tick() => (),
                _ = seen.wait_for(|_| false) => return true, // the sender is gone: the work is over
            }
            let (transcribed_s, segments) = {
                let progress = seen.borrow_and_update();
                (progress.transcribed_s, progress.segments[n_written..].to_vec())
            };
            match store::note_progress(&self.db, fence, transcribed_s, n_written, &segments).await {
                Ok(true) => n_written += segments.len(),
                Ok(false) => return false,
                Err(error) => tracing::debug!(%error, "could not write the job's progress"),
            }
        }
        true
    }

    /// Ends the job with `outcome`. Returns false if the write failed or the claim is no longer this
    /// attempt's.
    async fn end(
        &self,
        fence: Fence,
        outcome: Outcome,
        timing: Option<Timing>,
        error: Option<String>,
    ) -> bool {
        let ending = Ending { guard: Guard::Claimed(fence), outcome: Some(outcome), timing, error };
        let write = || self.endings.end(ending.clone());
        let ended = retry_until_shutdown("end", &self.shutdown, write).await;
        warn_if_claim_lost(ended);
        ended == Some(true)
    }

    async fn try_again(&self, fence: Fence, operation: &str, error: String) {
        let delay = backoff::after(fence.attempt);
        tracing::warn!(
            operation,
            error,
            delay_ms = delay.as_millis(),
            "attempt failed: the job goes back to its queue"
        );
        self.requeue(Requeue { fence, delay, error }).await;
    }

    /// Returns a job whose attempt has not ended to its queue, because this worker stops.
    async fn hand_back(&self, fence: Fence, operation: &str) {
        tracing::warn!(operation, "stopping before the attempt has ended: the job goes back to its queue");
        let error = "the worker stopped before the attempt had ended".to_owned();
        self.requeue(Requeue { fence, delay: Duration::ZERO, error }).await;
    }

    async fn requeue(&self, requeue: Requeue) {
        let write = || self.endings.requeue(requeue.clone());
        warn_if_claim_lost(retry_until_shutdown("requeue", &self.shutdown, write).await);
    }
}

/// Logs that a guarded write changed nothing. Then the job no longer belongs to this attempt: it was claimed
/// again, it was ended, or a crash of Postgres lost the claim and the job is queued.
fn warn_if_claim_lost(written: Option<bool>) {
    if written == Some(false) {
        tracing::warn!(
            "the result of this attempt was discarded: the job was cancelled or ended, claimed again or queued again"
        );
    }
}
