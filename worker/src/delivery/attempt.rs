//! One attempt at a job: a claimed job comes in; it is worked within its time, and ended, returned to its
//! queue for another attempt, or failed for good. Each write is guarded by the claim.

use std::{sync::Arc, time::Duration};

use akhar_jobs::{
    Fence, Outcome, Timing,
    backend::{ClaimedJob, Endings},
    store::{self, Claimed, Ending, Guard, Requeue},
};
use akhar_platform::{config::Config, shutdown::Shutdown};
use sqlx::PgPool;
use tokio::{sync::watch, time::MissedTickBehavior};
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use super::{backoff, config::ConsumerConfig, retry::retry_until_shutdown};
use crate::models::Models;

/// Between two notes of a job's progress.
const PROGRESS: Duration = Duration::from_secs(1);

/// What attempts need.
pub(crate) struct Attempts {
    /// For notes of progress, which need not be on disk.
    pub(crate) db: PgPool,
    pub(crate) endings: Endings,
    pub(crate) models: Arc<Models>,
    pub(crate) config: Config,
    /// Counts attempts under way, so that stopping can wait for them.
    pub(crate) tracker: TaskTracker,
    pub(crate) shutdown: Shutdown,
}

/// How an attempt's work went.
enum Worked {
    /// The caller has an answer, or its input was refused.
    Outcome(Outcome, Timing),
    /// There is no outcome; why, for operators.
    Failed(String),
}

impl Attempts {
    /// Works a claimed job to the end of this attempt, in a task of its own: it goes on when the caller is
    /// dropped, and a panic in it does not spread.
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
        let _ = tracker.spawn(attempt.instrument(span)).await; // a panic is logged where it happens
    }

    async fn work(self: Arc<Self>, mut claimed: Claimed) {
        let (fence, operation) = (claimed.fence, claimed.parameters.operation().name());
        let upload = claimed.upload.take();
        let parameters = claimed.parameters;
        let timeout = ConsumerConfig::of(claimed.queue, &self.config).timeout;
        let pipeline = self.models.pipeline();
        let (progress, seen) = watch::channel(0.0);
        let work = async move {
            let work = pipeline.work(fence.job, &parameters, upload, &progress);
            match tokio::time::timeout(timeout, work).await {
                Ok(Ok((outcome, timing))) => Worked::Outcome(outcome, timing),
                Ok(Err(error)) => Worked::Failed(error.to_string()),
                Err(_) => Worked::Failed(format!("took longer than {timeout:?}")),
            }
        };
        // A task of its own, so that a panic in it is an attempt that failed.
        let working = tokio::spawn(work.in_current_span());
        self.note_progress(fence, seen).await;
        match working.await.unwrap_or_else(|panic| Worked::Failed(format!("panicked: {panic}"))) {
            Worked::Outcome(outcome, timing) => {
                let Timing { decode_us, infer_us } = timing;
                let kind = if outcome.is_answer() { "answered" } else { "rejected" };
                if self.end(fence, outcome, Some(timing), None).await {
                    tracing::info!(operation, decode_us, infer_us, outcome = kind, "job finished");
                }
            }
            Worked::Failed(error) if claimed.is_last_attempt => {
                tracing::error!(operation, error, "job failed for good");
                self.end(fence, Outcome::Failed, None, Some(error)).await;
            }
            Worked::Failed(error) => self.try_again(fence, operation, error).await,
        }
    }

    /// Writes down how far the job is, at most once a second, until its work is over. A note that cannot be
    /// written is of no consequence.
    async fn note_progress(&self, fence: Fence, mut seen: watch::Receiver<f64>) {
        let mut second = tokio::time::interval(PROGRESS);
        second.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while seen.changed().await.is_ok() {
            tokio::select! {
                _ = second.tick() => (),
                _ = seen.wait_for(|_| false) => return, // over
            }
            let transcribed_s = *seen.borrow_and_update();
            if let Err(error) = store::note_progress(&self.db, fence, transcribed_s).await {
                tracing::debug!(%error, "progress not noted");
            }
        }
    }

    /// Whether this attempt ended the job.
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
        note_if_late(ended);
        ended == Some(true)
    }

    async fn try_again(&self, fence: Fence, operation: &str, error: String) {
        let delay = backoff::after(fence.attempt);
        tracing::warn!(operation, error, delay_ms = delay.as_millis(), "attempt failed: trying again");
        let requeue = Requeue { fence, delay, error };
        let write = || self.endings.requeue(requeue.clone());
        note_if_late(retry_until_shutdown("requeue", &self.shutdown, write).await);
    }
}

/// The job is no longer this attempt's: another claim has it, it was ended, or a crash of Postgres forgot
/// the claim and the job is queued.
fn note_if_late(written: Option<bool>) {
    if written == Some(false) {
        tracing::warn!("the attempt's end was dropped: another claim has the job, or it waits for one");
    }
}
