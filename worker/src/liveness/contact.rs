//! Tracks whether this worker's own heartbeats reach the database.

use std::time::Duration;

use akhar_jobs::store::DEAD_AFTER;
use tokio::time::Instant;

/// The time between two heartbeats, and between two sweeps.
pub(super) const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);

/// The longest gap between two of this worker's own heartbeats that still counts as good contact. After a
/// longer gap the heartbeats of other workers may be late for the same reason.
const MAX_GAP: Duration = Duration::from_secs(2);

/// This worker's contact with the database, judged by its own heartbeats.
///
/// When this worker's heartbeats do not arrive, those of other workers may not arrive either. Then a missing
/// heartbeat does not prove that another worker is dead, until that worker has had time to send a new one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contact {
    last_heartbeat: Instant,
    /// When contact last came back after a gap; `None` if it was never lost.
    regained: Option<Instant>,
}

impl Contact {
    /// Starts as good contact, with a heartbeat now.
    pub(crate) fn new() -> Self {
        Self { last_heartbeat: Instant::now(), regained: None }
    }

    /// Records that one of this worker's heartbeats was written.
    pub(super) fn heartbeat_written(&mut self) {
        let now = Instant::now();
        if now - self.last_heartbeat > MAX_GAP {
            self.regained = Some(now);
        }
        self.last_heartbeat = now;
    }

    /// Whether a worker whose heartbeats are missing now may be taken for dead.
    pub(super) fn is_reliable(&self) -> bool {
        self.last_heartbeat.elapsed() <= MAX_GAP && self.regained.is_none_or(|at| at.elapsed() > DEAD_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn contact_is_reliable_again_once_others_had_time_for_a_heartbeat() {
        let mut contact = Contact::new();
        assert!(contact.is_reliable(), "at the start, before any gap");
        tokio::time::advance(HEARTBEAT_INTERVAL).await;
        contact.heartbeat_written();
        assert!(contact.is_reliable());
        tokio::time::advance(MAX_GAP + HEARTBEAT_INTERVAL).await;
        assert!(!contact.is_reliable(), "our own heartbeat is missing");
        contact.heartbeat_written();
        for _ in 0..DEAD_AFTER.as_secs() {
            assert!(!contact.is_reliable(), "contact came back a moment ago");
            tokio::time::advance(HEARTBEAT_INTERVAL).await;
            contact.heartbeat_written();
        }
        tokio::time::advance(HEARTBEAT_INTERVAL).await;
        assert!(contact.is_reliable());
    }
}
