//! How well this worker's own heartbeats come through.

use std::time::Duration;

use tokio::time::Instant;

/// Between two heartbeats, and between two sweeps.
pub(super) const BEAT: Duration = Duration::from_secs(1);

/// A worker silent for this long is dead: three beats.
pub(super) const SILENCE: Duration = Duration::from_secs(3);

/// A longer pause between two of our own beats, and others' may be late as well.
const MAX_GAP: Duration = Duration::from_secs(2);

/// How well our own beats come through. When they do not, nobody's may, and the silence of others means
/// nothing until they had the time to be heard again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contact {
    last_beat: Instant,
    /// When it was last regained; none while it was never lost.
    regained: Option<Instant>,
}

impl Contact {
    /// Just made.
    pub(crate) fn new() -> Self {
        Self { last_beat: Instant::now(), regained: None }
    }

    pub(super) fn beat(&mut self) {
        let now = Instant::now();
        if now - self.last_beat > MAX_GAP {
            self.regained = Some(now);
        }
        self.last_beat = now;
    }

    /// Whether a worker that is silent now is dead.
    pub(super) fn is_steady(&self) -> bool {
        self.last_beat.elapsed() <= MAX_GAP && self.regained.is_none_or(|at| at.elapsed() > SILENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn contact_once_lost_is_steady_again_when_others_could_be_heard() {
        let mut contact = Contact::new();
        assert!(contact.is_steady(), "at the start: there is nothing to doubt yet");
        tokio::time::advance(BEAT).await;
        contact.beat();
        assert!(contact.is_steady());
        tokio::time::advance(MAX_GAP + BEAT).await;
        assert!(!contact.is_steady(), "silent ourselves");
        contact.beat();
        for _ in 0..SILENCE.as_secs() {
            assert!(!contact.is_steady(), "just back");
            tokio::time::advance(BEAT).await;
            contact.beat();
        }
        tokio::time::advance(BEAT).await;
        assert!(contact.is_steady());
    }
}
