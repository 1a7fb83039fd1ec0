//! The order to stop: softly (take nothing new, finish what is in flight), then hard.

use std::time::{Duration, Instant};

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// A signal that comes this soon after the first is its echo: `timeout` and some shells signal both the
/// process and its group.
const ECHO: Duration = Duration::from_secs(1);

/// Two tokens every long-lived task watches.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    /// Take nothing new.
    pub soft: CancellationToken,
    /// Leave now.
    pub hard: CancellationToken,
}

impl Shutdown {
    /// Stops softly on the first SIGTERM or SIGINT, and hard on the second or after `limit`.
    pub fn on_signals(limit: Duration) -> std::io::Result<Self> {
        let shutdown = Self::default();
        let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let told = shutdown.clone();
        tokio::spawn(async move {
            let mut signalled = async || tokio::select! { _ = term.recv() => (), _ = int.recv() => () };
            signalled().await;
            tracing::info!(limit_s = limit.as_secs(), "stopping: finishing what is in flight");
            told.soft.cancel();
            let first = Instant::now();
            let again = async {
                signalled().await;
                while first.elapsed() < ECHO {
                    signalled().await;
                }
            };
            tokio::select! {
                () = again => tracing::warn!("told twice to stop"),
                () = tokio::time::sleep(limit) => tracing::warn!("time to stop is up"),
            }
            told.hard.cancel();
        });
        Ok(shutdown)
    }

    /// Stops softly now, as if by signal: what else runs in this process should follow.
    pub fn stop(&self) {
        self.soft.cancel();
    }
}
