//! Shutdown in two steps. After the soft step a process accepts no new work and finishes the work in progress. The hard
//! step stops it at once.

use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// A second signal within this time of the first is ignored. `timeout` and some shells send each signal twice: to the
/// process and to its process group.
const DUPLICATE_WINDOW: Duration = Duration::from_secs(1);

/// The two tokens that long-running tasks watch.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    /// Cancelled when the process should accept no new work and finish the work in progress.
    pub soft: CancellationToken,
    /// Cancelled when the process should stop at once.
    pub hard: CancellationToken,
}

impl Shutdown {
    /// Cancels `soft` on the first SIGTERM or SIGINT, and `hard` on the second one or when `limit` has passed since
    /// the first.
    pub fn on_signals(limit: Duration) -> std::io::Result<Self> {
        let shutdown = Self::default();
        let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let tokens = shutdown.clone();
        tokio::spawn(async move {
            let mut signalled = async || tokio::select! { _ = term.recv() => (), _ = int.recv() => () };
            signalled().await;
            tracing::info!(limit_s = limit.as_secs(), "stopping: finishing the work in progress");
            tokens.soft.cancel();
            let first = Instant::now();
            let again = async {
                signalled().await;
                while first.elapsed() < DUPLICATE_WINDOW {
                    signalled().await;
                }
            };
            tokio::select! {
                () = again => tracing::warn!("received a second signal: not waiting for unfinished work"),
                () = tokio::time::sleep(limit) => {
                    tracing::warn!("the time limit for stopping has passed: not waiting for unfinished work");
                }
            }
            tokens.hard.cancel();
        });
        Ok(shutdown)
    }

    /// Cancels `soft` without a signal.
    pub fn stop(&self) {
        self.soft.cancel();
    }
}
