//! Shutdown in steps. First a process may say for some seconds that it is leaving, while it works as before. After the
//! soft step it accepts no new work and finishes the work in progress. At the deadline it gives up the work that it has
//! not finished, in an orderly way. The hard step stops it at once.

use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// A second signal within this time of the first is ignored. `timeout` and some shells send each signal twice: to the
/// process and to its process group.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(1);

/// The longest time between the deadline and the hard step.
const LAST_STEP: Duration = Duration::from_secs(1);

/// The tokens that long-running tasks watch.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    /// Cancelled when the process should say that it is leaving, so that load balancers send requests to others. It
    /// still accepts what comes.
    pub leaving: CancellationToken,
    /// Cancelled when the process should accept no new work, such as connections, and finish the work in progress.
    pub soft: CancellationToken,
    /// Cancelled shortly before `hard`. Requests that still wait are answered with 202, and jobs that still run go back
    /// to their queues.
    pub deadline: CancellationToken,
    /// Cancelled when the process should stop at once.
    pub hard: CancellationToken,
}

impl Shutdown {
    /// Cancels `leaving` on the first SIGTERM or SIGINT, `soft` after the time `notice`, and `deadline` and `hard` when
    /// `limit` is nearly over and over after that. A second signal cancels all of them at once.
    pub fn on_signals(notice: Duration, limit: Duration) -> std::io::Result<Self> {
        let shutdown = Self::default();
        let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let begun = shutdown.clone();
        tokio::spawn(async move {
            let mut signalled = async || tokio::select! { _ = term.recv() => (), _ = int.recv() => () };
            signalled().await;
            begun.leaving.cancel();
            tracing::info!(
                notice_s = notice.as_secs(),
                limit_s = limit.as_secs(),
                "stopping: finishing the work in progress"
            );
            let first = Instant::now();
            let again = async {
                signalled().await;
                while first.elapsed() < DUPLICATE_WINDOW {
                    signalled().await;
                }
            };
            tokio::select! {
                () = again => tracing::warn!("received a second signal: not waiting for unfinished work"),
                () = async { tokio::time::sleep(notice).await; begun.finish_within(limit).await } => {
                    tracing::warn!("the time limit for stopping has passed: not waiting for unfinished work");
                }
            }
            begun.stop_now();
        });
        Ok(shutdown)
    }

    /// Cancels `leaving` and `soft` at once, `deadline` when `limit` is nearly over, and `hard` when it is over. Returns then.
    pub async fn finish_within(&self, limit: Duration) {
        self.stop();
        let last_step = LAST_STEP.min(limit / 4);
        tokio::time::sleep(limit.saturating_sub(last_step)).await;
        self.deadline.cancel();
        tokio::time::sleep(last_step).await;
        self.hard.cancel();
    }

    /// Cancels `leaving`, `soft` and `deadline` at once, and `hard` a second later. Returns then.
    pub async fn give_up(&self) {
        self.stop();
        self.deadline.cancel();
        tokio::time::sleep(LAST_STEP).await;
        self.hard.cancel();
    }

    /// Cancels all tokens.
    pub fn stop_now(&self) {
        self.stop();
        self.deadline.cancel();
        self.hard.cancel();
    }

    /// Cancels `leaving` and `soft` without a signal.
    pub fn stop(&self) {
        self.leaving.cancel();
        self.soft.cancel();
    }
}
