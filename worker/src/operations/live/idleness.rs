//! Whether a session is idle.

use std::time::{Duration, Instant};

use akhar_requests::live::LIVE_IDLE_S;

/// After a time between two looks that is longer than this, something kept the session from looking: the models, or Postgres,
/// without which no part can come either.
const LOOK_TIME: Duration = Duration::from_secs(2);

/// Since when no part has come, though the session looked for one.
#[derive(Debug)]
pub(super) struct Idleness {
    since: Instant,
    looked_at: Instant,
}

impl Idleness {
    pub(super) const fn new(now: Instant) -> Self {
        Self { since: now, looked_at: now }
    }

    /// Takes a look that has found so many parts. Returns whether none has come for too long.
    pub(super) fn look(&mut self, n_parts: usize, now: Instant) -> bool {
        if n_parts > 0 || now - self.looked_at > LOOK_TIME {
            self.since = now;
        }
        self.looked_at = now;
        now - self.since >= Duration::from_secs(LIVE_IDLE_S.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_idle_if_it_looks_for_parts_and_none_comes() {
        let began = Instant::now();
        let at = |seconds: u64| began + Duration::from_secs(seconds);
        let mut idleness = Idleness::new(began);
        assert!((1..=59).all(|s| !idleness.look(0, at(s))) && idleness.look(0, at(60)));
        assert!(!idleness.look(1, at(60)));
        assert!(!idleness.look(0, at(150)), "it was busy with that part");
        assert!((151..=209).all(|s| !idleness.look(0, at(s))) && idleness.look(0, at(210)));
    }
}
