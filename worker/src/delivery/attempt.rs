//! One attempt at a job: a taken ticket comes in, its job claimed with it; the job is worked within its time, and finished,
//! returned for another attempt, or failed for good. Each write is fenced by the attempt's number.

use std::{sync::Arc, time::Duration};

use akhar_jobs::{
    JobId, Outcome, TicketId, Timing,
    store::{self, Claimed, Taken},
};
use akhar_platform::{
    database::{Database, is_transient},
    shutdown::Shutdown,
};
use tokio::{sync::watch, time::MissedTickBehavior};
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use crate::{
    delivery::in_hand::{Held, InHand},
    models::Models,
};

/// Wait before the second attempt; each further wait is twice as long.
const FIRST_BACKOFF: Duration = Duration::from_millis(500);

/// Wait between two tries at the same database write while the database is away.
const DATABASE_PAUSE: Duration = Duration::from_millis(100);

/// Wait between two notes of a job's progress.
const PROGRESS: Duration = Duration::from_secs(1);

/// What attempts need.
pub(crate) struct Attempts {
    pub(crate) database: Database,
    pub(crate) models: Arc<Models>,
    /// This process's name, for claims.
    pub(crate) worker: String,
    /// The jobs whose attempts are in flight here.
    pub(crate) in_hand: InHand,
    /// Counts attempts in flight, so that stopping can wait for them.
    pub(crate) tracker: TaskTracker,
    pub(crate) shutdown: Shutdown,
}

impl Attempts {
    /// Works the job of one ticket to the end of this attempt. It goes on when the caller is dropped.
    pub(crate) async fn deliver(self: Arc<Self>, taken: Taken, held: Option<Held>, timeout: Duration) {
        let tracker = self.tracker.clone();
        // A task of its own: the queue's machinery may die around it, a panic in it may not spread.
        let _ = tracker.spawn(async move { self.attempt(taken, held, timeout).await }).await;
    }

    async fn attempt(self: Arc<Self>, taken: Taken, held: Option<Held>, timeout: Duration) {
        let ticket = taken.ticket;
        let claimed = match taken.claimed {
            Some(claimed) => Some(claimed),
            None => match self.reclaim(taken.job).await {
                Some(claimed) => claimed,
                None => return, // not known: the ticket stays, and comes again when this consumer ends
            },
        };
        let Some(claimed) = claimed else {
            tracing::debug!(job = ?taken.job, "nothing to do: running elsewhere, cancelled or over");
            self.insist("drop ticket", || store::drop_ticket(&self.database.volatile, ticket)).await;
            return;
        };
        let _held = held.unwrap_or_else(|| self.in_hand.hold(claimed.id));
        let span = tracing::info_span!(
            "job",
            job = %claimed.id,
            attempt = claimed.attempt,
            request_id = %claimed.request_id,
            traceparent = claimed.traceparent.as_deref(),
        );
        self.clone().work(claimed, ticket, timeout).instrument(span).await;
    }

    /// A job whose ticket came although it is not queued may be ours already: claimed by a statement whose
    /// answer was lost with its connection. Outer none: the database would not say.
    async fn reclaim(&self, job: Option<JobId>) -> Option<Option<Claimed>> {
        match job.filter(|job| !self.in_hand.holds(*job)) {
            Some(job) => {
                self.insist("claim", || store::claim(&self.database.volatile, job, &self.worker)).await
            }
            None => Some(None),
        }
    }

    async fn work(self: Arc<Self>, mut claimed: Claimed, ticket: TicketId, timeout: Duration) {
        let (job, attempt) = (claimed.id, claimed.attempt);
        let operation = claimed.parameters.operation().name();
        let upload = claimed.upload.take();
        let parameters = claimed.parameters.clone();
        let pipeline = self.models.pipeline();
        let (progress, seen) = watch::channel(0.0);
        let work = async move {
            tokio::time::timeout(timeout, pipeline.work(job, &parameters, upload, &progress)).await
        };
        let worked = tokio::spawn(work.in_current_span());
        self.note_progress(job, attempt, seen).await;
        let worked = match worked.await {
            Ok(Ok(Ok(done))) => Ok(done),
            Ok(Ok(Err(error))) => Err(error.to_string()),
            Ok(Err(_)) => Err(format!("took longer than {timeout:?}")),
            Err(panic) => Err(format!("panicked: {panic}")),
        };
        match worked {
            Ok((outcome, timing)) => {
                let Timing { decode_us, infer_us } = timing;
                let outcome_kind = if outcome.is_answer() { "answered" } else { "rejected" };
                if self.finish(job, attempt, ticket, &outcome, timing, None).await {
                    tracing::info!(operation, decode_us, infer_us, outcome = outcome_kind, "job finished");
                }
            }
            Err(error) if claimed.is_last_attempt => {
                tracing::error!(operation, error, "job failed for good");
                self.finish(job, attempt, ticket, &Outcome::Failed, Timing::default(), Some(&error)).await;
            }
            Err(error) => {
                let delay = backoff(attempt);
                tracing::warn!(operation, error, delay_ms = delay.as_millis(), "attempt failed: again");
                let retry = || store::retry(&self.database.durable, job, attempt, ticket, delay, &error);
                if self.insist("retry", retry).await == Some(false) {
                    self.come_to_nothing(ticket).await;
                }
            }
        }
    }

    /// Writes down how far the job is, at most once a second, until its work is over. What cannot be
    /// written is of no consequence.
    async fn note_progress(&self, job: JobId, attempt: i32, mut seen: watch::Receiver<f64>) {
        let mut second = tokio::time::interval(PROGRESS);
        second.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while seen.changed().await.is_ok() {
            tokio::select! {
                _ = second.tick() => (),
                _ = seen.wait_for(|_| false) => return, // over
            }
            let transcribed_s = *seen.borrow_and_update();
            let noted = store::note_progress(&self.database.volatile, job, attempt, transcribed_s).await;
            if let Err(error) = noted {
                tracing::debug!(%error, "progress not noted");
            }
        }
    }

    async fn finish(
        &self,
        job: JobId,
        attempt: i32,
        ticket: TicketId,
        outcome: &Outcome,
        timing: Timing,
        error: Option<&str>,
    ) -> bool {
        let finish = || store::finish(&self.database.durable, job, attempt, ticket, outcome, timing, error);
        let finished = self.insist("finish", finish).await;
        if finished == Some(false) {
            self.come_to_nothing(ticket).await;
        }
        finished == Some(true)
    }

    /// The job is no longer this attempt's: another has it, or Postgres crashed and forgot the claim, and
    /// then only this ticket can bring it back.
    async fn come_to_nothing(&self, ticket: TicketId) {
        tracing::warn!("outcome dropped: the job is no longer this attempt's");
        self.insist("return ticket", || store::return_ticket(&self.database.volatile, ticket)).await;
    }

    /// Does one guarded write, again and again while the database is away, until told to leave hard.
    /// None: it could not be done; the sweeper of another worker will notice.
    async fn insist<T, F>(&self, what: &'static str, mut write: impl FnMut() -> F) -> Option<T>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        loop {
            match write().await {
                Ok(done) => return Some(done),
                Err(error) if is_transient(&error) => {
                    tracing::warn!(what, %error, "database away: trying again");
                }
                Err(error) => {
                    tracing::error!(what, %error, "gave up on a write");
                    return None;
                }
            }
            tokio::select! {
                () = tokio::time::sleep(DATABASE_PAUSE) => (),
                () = self.shutdown.hard.cancelled() => return None,
            }
        }
    }
}

/// The wait after an attempt that failed, doubled each time, spread by up to a half so that jobs that
/// failed together do not return together.
fn backoff(attempt: i32) -> Duration {
    let doublings = u32::try_from(attempt - 1).unwrap_or(0).min(8);
    FIRST_BACKOFF.saturating_mul(1 << doublings).mul_f64(1.0 + rand::random::<f64>() / 2.0)
}
