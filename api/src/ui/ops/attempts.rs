//! Limits how often one client may try to sign in.

use std::{net::IpAddr, time::Duration};

use moka::sync::Cache;

/// How many failed attempts a client may make before it must pause.
const MAX_FAILED: u32 = 10;

/// The pause after which a client may try again.
pub(super) const PAUSE: Duration = Duration::from_secs(60);

/// The most clients whose attempts are counted.
const MAX_CLIENTS: u64 = 10_000;

/// The failed attempts of the last minute in this process.
#[derive(Debug, Clone)]
pub(super) struct LoginAttempts(Cache<Option<IpAddr>, u32>);

impl Default for LoginAttempts {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(MAX_CLIENTS).time_to_live(PAUSE).build())
    }
}

impl LoginAttempts {
    /// Whether this client may try.
    pub(super) fn may_try(&self, client: Option<IpAddr>) -> bool {
        self.0.get(&client).is_none_or(|n_failed| n_failed < MAX_FAILED)
    }

    /// Counts a failed attempt.
    pub(super) fn failed(&self, client: Option<IpAddr>) {
        self.0.entry(client).and_upsert_with(|former| former.map_or(1, |n| n.into_value().saturating_add(1)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_fails_often_must_pause_and_others_need_not() {
        let attempts = LoginAttempts::default();
        let [one, other] = [[192, 0, 2, 1], [192, 0, 2, 2]].map(|address| Some(IpAddr::from(address)));
        for _ in 0..MAX_FAILED {
            assert!(attempts.may_try(one));
            attempts.failed(one);
        }
        assert!(!attempts.may_try(one));
        assert!(attempts.may_try(other));
    }
}
