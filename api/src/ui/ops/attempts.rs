//! Limits how often one client may try to sign in.

use std::{net::IpAddr, time::Duration};

use akhar_platform::networks::Networks;
use axum::http::HeaderMap;
use moka::sync::Cache;

use crate::http::peer::{Peer, network};

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

/// The client of a request: the address of its connection, or if that is a proxy's, the last address in X-Forwarded-For that is
/// not. One of IPv6 stands for all of its network.
pub(super) fn client(peer: Option<Peer>, headers: &HeaderMap, proxies: &Networks) -> Option<IpAddr> {
    let lines = headers.get_all("x-forwarded-for").iter().rev();
    let mut named = lines.flat_map(|line| line.to_str().unwrap_or_default().rsplit(','));
    let mut client = peer?.0.to_canonical();
    while proxies.contain(client)
        && let Some(Ok(address)) = named.next().map(|text| text.trim().parse::<IpAddr>())
    {
        client = address.to_canonical();
    }
    Some(network(client))
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

    #[test]
    fn only_a_proxy_can_name_a_client() {
        let proxies = Networks::try_from("10.0.0.0/8, fd00::/8".to_owned()).unwrap();
        let named = |peer: &str, lines: &[&'static str]| {
            let lines = lines.iter().map(|line| ("x-forwarded-for".parse().unwrap(), line.parse().unwrap()));
            let peer = Some(Peer(peer.parse().unwrap()));
            client(peer, &lines.collect(), &proxies).unwrap().to_string()
        };
        for (peer, lines, expected) in [
            ("192.0.2.9", &["192.0.2.1"][..], "192.0.2.9"),
            ("10.1.1.1", &["spoofed, 192.0.2.1"], "192.0.2.1"),
            ("::ffff:10.1.1.1", &["192.0.2.1, 10.2.2.2", "fd00::1"], "192.0.2.1"),
            ("10.1.1.1", &["192.0.2.1, unknown, 10.2.2.2"], "10.2.2.2"),
            ("10.1.1.1", &["2001:db8:1:2:3:4:5:6"], "2001:db8:1:2::"),
            ("10.1.1.1", &[], "10.1.1.1"),
        ] {
            assert_eq!(named(peer, lines), expected, "{peer} {lines:?}");
        }
    }
}
