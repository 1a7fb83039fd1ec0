//! Parses the host that a request names.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use axum::http::uri::Authority;

/// A host, without its port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Host<'a> {
    Name(&'a str),
    Address(IpAddr),
}

impl<'a> Host<'a> {
    /// Parses a host with or without a port (RFC 3986, 3.2.2 and 3.2.3). `None` for anything else, also with a user's name
    /// before it.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        Authority::try_from(text).ok().filter(|_| !text.contains('@'))?;
        let (host, port) = if let Some(rest) = text.strip_prefix('[') {
            let (address, port) = rest.split_once(']')?;
            (Self::Address(address.parse::<Ipv6Addr>().ok()?.into()), port)
        } else {
            let (name, port) = text.split_at(text.find(':').unwrap_or(text.len()));
            (name.parse::<Ipv4Addr>().map_or(Self::Name(name), |address| Self::Address(address.into())), port)
        };
        (host != Self::Name("") && is_port(port)).then_some(host)
    }
}

/// Whether a text is empty or a colon and a port, which may be empty too.
fn is_port(text: &str) -> bool {
    let Some(port) = text.strip_prefix(':') else { return text.is_empty() };
    port.is_empty() || port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_may_have_a_port_and_nothing_else() {
        let address = |text: &str| Some(Host::Address(text.parse().unwrap()));
        for (text, host) in [
            ("akhar", Some(Host::Name("akhar"))),
            ("a_b.example:65535", Some(Host::Name("a_b.example"))),
            ("akhar:", Some(Host::Name("akhar"))),
            ("127.0.0.1:80", address("127.0.0.1")),
            ("[::1]", address("::1")),
            ("[::1]:80", address("::1")),
        ] {
            assert_eq!(Host::parse(text), host, "{text}");
        }
        for text in [
            "",
            ":80",
            "a@b",
            "a:b@c",
            "a:65536",
            "a:99999",
            "a:+1",
            "a:1:2",
            "::1",
            "a b",
            "a/b",
            "[127.0.0.1]",
            "[::1",
            "[::1]x",
            "[::1]:x",
            "[]",
            "[::1%25eth0]",
        ] {
            assert_eq!(Host::parse(text), None, "{text}");
        }
    }
}
