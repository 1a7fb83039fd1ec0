//! Limits how often one client may try to sign in.

use std::time::Duration;

use axum::http::HeaderMap;
use moka::sync::Cache;

use crate::http::peer::Peer;

/// How many failed attempts a client may make before it must pause.
const MAX_FAILED: u32 = 10;

/// The pause after which a client may try again.
pub(super) const PAUSE: Duration = Duration::from_secs(60);

/// The most clients whose attempts are counted.
const MAX_CLIENTS: u64 = 10_000;

/// The failed attempts of the last minute in this process.
#[derive(Debug, Clone)]
pub(super) struct LoginAttempts(Cache<String, u32>);

impl Default for LoginAttempts {
    fn default() -> Self {
        Self(Cache::builder().max_capacity(MAX_CLIENTS).time_to_live(PAUSE).build())
    }
}

impl LoginAttempts {
    /// Whether this client may try.
    pub(super) fn may_try(&self, client: &str) -> bool {
        self.0.get(client).is_none_or(|n_failed| n_failed < MAX_FAILED)
    }

    /// Counts a failed attempt.
    pub(super) fn failed(&self, client: &str) {
        self.0
            .entry_by_ref(client)
            .and_upsert_with(|former| former.map_or(1, |n| n.into_value().saturating_add(1)));
    }
}

/// The client of a request: the address of its connection, and the one that the proxy in front of this process names. A client
/// that connects directly can name any, but it has to find a key of 256 random bits.
pub(super) fn client(peer: Option<Peer>, headers: &HeaderMap) -> String {
    let forwarded =
        headers.get_all("x-forwarded-for").iter().next_back().and_then(|value| value.to_str().ok());
    let forwarded = forwarded.and_then(|list| list.rsplit(',').next()).map_or("", str::trim);
    let forwarded: String = forwarded.chars().take(64).collect();
    format!("{} {forwarded}", peer.map(|peer| peer.0.to_string()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_fails_often_must_pause_and_others_need_not() {
        let attempts = LoginAttempts::default();
        for _ in 0..MAX_FAILED {
            assert!(attempts.may_try("a"));
            attempts.failed("a");
        }
        assert!(!attempts.may_try("a"));
        assert!(attempts.may_try("b"));
    }

    #[test]
    fn a_client_is_named_by_its_connection_and_the_proxy() {
        let headers = |value: &str| {
            HeaderMap::from_iter([("x-forwarded-for".parse().unwrap(), value.parse().unwrap())])
        };
        let peer = Some(Peer([127, 0, 0, 1].into()));
        assert_eq!(client(peer, &headers("spoofed, 192.0.2.1")), "127.0.0.1 192.0.2.1");
        assert_eq!(client(peer, &HeaderMap::new()), "127.0.0.1 ");
    }
}
