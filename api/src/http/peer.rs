//! Where a request came from, and the place that its connection has.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::Arc,
};

use akhar_platform::{budget::Share, networks::Networks};
use axum::http::HeaderMap;
use tokio::sync::OwnedSemaphorePermit;

/// The address of the client's end of the connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The place of a connection among those that may be open, and among those of its address. Each of its requests has it, so that
/// what goes on on the connection behind an upgrade can hold it.
#[derive(Debug, Clone)]
pub(crate) struct Place(
    #[expect(dead_code, reason = "it is only held")] Arc<(OwnedSemaphorePermit, Option<Share<IpAddr>>)>,
);

impl Place {
    pub(crate) fn new(place: OwnedSemaphorePermit, of_address: Option<Share<IpAddr>>) -> Self {
        Self(Arc::new((place, of_address)))
    }
}

/// The part of an address that belongs to one client: an IPv4 address, or the first half of an IPv6 address.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// The client of a request: the address of its connection, or if that is a proxy's, the last address in X-Forwarded-For that is
/// not.
pub(crate) fn client(peer: Option<Peer>, headers: &HeaderMap, proxies: &Networks) -> Option<IpAddr> {
    let lines = headers.get_all("x-forwarded-for").iter().rev();
    let mut named = lines.flat_map(|line| line.to_str().unwrap_or_default().rsplit(','));
    let mut client = peer?.0.to_canonical();
    while proxies.contain(client)
        && let Some(Ok(address)) = named.next().map(|text| text.trim().parse::<IpAddr>())
    {
        client = address.to_canonical();
    }
    Some(client)
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("10.1.1.1", &["2001:db8:1:2:3:4:5:6"], "2001:db8:1:2:3:4:5:6"),
            ("10.1.1.1", &[], "10.1.1.1"),
        ] {
            assert_eq!(named(peer, lines), expected, "{peer} {lines:?}");
        }
    }
}
