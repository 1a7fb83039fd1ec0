//! Which URLs of callers the service sends requests to, and at which addresses: those of webhooks and of recordings. Callers
//! choose the URLs, so a request must not reach what only the service's own network can reach.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use url::{Host, Position, Url};

/// The most bytes of a URL.
pub const MAX_URL_BYTES: usize = 2048;

/// Ports below this are those of well-known services other than HTTP, such as mail, and are refused.
const FIRST_FREE_PORT: u16 = 1024;

/// The ports of HTTP.
const HTTP_PORTS: [u16; 2] = [80, 443];

/// Where requests may be sent: to public addresses, and to networks that the operator allows.
#[derive(Debug, Clone, Default)]
pub struct UrlRules {
    allowed: Vec<IpNet>,
}

/// A URL that requests may be sent to. If its host is a name, the addresses of the name are checked at each request.
#[derive(Clone, PartialEq, Eq)]
pub struct CallerUrl(Url);

/// Why no requests are sent to a URL. The text continues the name of the URL, and has nothing of its query.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallerUrlError {
    /// It has too many bytes.
    #[error("has {0} bytes, expected at most {MAX_URL_BYTES}")]
    TooLong(usize),
    /// It is not an absolute URL with a host.
    #[error("is not a URL, expected one such as https://example.com/akhar")]
    NotAUrl,
    /// It has another scheme.
    #[error("has the scheme {0:?}, expected https")]
    Scheme(String),
    /// It has a user name or a password.
    #[error("has a user name or a password, expected none")]
    UserInfo,
    /// It has a fragment.
    #[error("has a fragment (#…), expected none")]
    Fragment,
    /// It has a port of another service.
    #[error("has the port {0}, expected 80, 443, or one from {FIRST_FREE_PORT} on")]
    Port(u16),
    /// Its host is an address to which no requests are sent.
    #[error("has the address {0}, expected a public one")]
    Address(IpAddr),
}

impl UrlRules {
    /// Requests may be sent to public addresses with HTTPS, and to addresses of these networks with HTTP too.
    pub fn new(allowed: Vec<IpNet>) -> Self {
        Self { allowed }
    }

    /// Whether a request may be sent to this address. Without TLS, only to networks that the operator allows.
    pub fn allow(&self, address: IpAddr, has_tls: bool) -> bool {
        let address = address.to_canonical();
        self.allowed.iter().any(|network| network.contains(&address)) || has_tls && is_public(address)
    }

    /// Parses a URL and checks it.
    pub fn parse(&self, text: &str) -> Result<CallerUrl, CallerUrlError> {
        if text.len() > MAX_URL_BYTES {
            return Err(CallerUrlError::TooLong(text.len()));
        }
        let url = Url::parse(text).map_err(|_| CallerUrlError::NotAUrl)?;
        let has_tls = match url.scheme() {
            "https" => true,
            "http" if !self.allowed.is_empty() => false,
            other => return Err(CallerUrlError::Scheme(other.to_owned())),
        };
        if url.as_str().len() > MAX_URL_BYTES {
            return Err(CallerUrlError::TooLong(url.as_str().len()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(CallerUrlError::UserInfo);
        }
        if url.fragment().is_some() {
            return Err(CallerUrlError::Fragment);
        }
        let port = url.port().filter(|port| *port < FIRST_FREE_PORT && !HTTP_PORTS.contains(port));
        if let Some(port) = port {
            return Err(CallerUrlError::Port(port));
        }
        let url = CallerUrl(url);
        match url.address() {
            Some(address) if !self.allow(address, has_tls) => Err(CallerUrlError::Address(address)),
            _ => Ok(url),
        }
    }
}

impl CallerUrl {
    /// The URL, normalised: lower-case scheme and host, an address in its usual form, a path.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The URL that a response of this one redirects to.
    pub fn redirected(&self, location: &str, rules: &UrlRules) -> Result<Self, CallerUrlError> {
        let mut url = self.0.join(location).map_err(|_| CallerUrlError::NotAUrl)?;
        url.set_fragment(None);
        rules.parse(url.as_str())
    }

    /// The URL without its query, which can be a secret such as a signature.
    pub fn without_query(&self) -> &str {
        &self.0[..Position::AfterPath]
    }

    /// The address, if the host is no name.
    fn address(&self) -> Option<IpAddr> {
        match self.0.host()? {
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
            Host::Domain(_) => None,
        }
    }
}

impl fmt::Debug for CallerUrl {
    /// Leaves the query out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallerUrl").field(&self.without_query()).finish()
    }
}

impl From<CallerUrl> for Url {
    fn from(url: CallerUrl) -> Self {
        url.0
    }
}

/// IPv4 networks that are not public, from IANA's registry of special-purpose addresses
/// (<https://www.iana.org/assignments/iana-ipv4-special-registry>), multicast, and a metadata service of clouds.
const NOT_PUBLIC_V4: [Ipv4Net; 17] = [
    v4([0, 0, 0, 0], 8),        // this host
    v4([10, 0, 0, 0], 8),       // private
    v4([100, 64, 0, 0], 10),    // shared by the customers of a provider
    v4([127, 0, 0, 0], 8),      // loopback
    v4([168, 63, 129, 16], 32), // the metadata of Azure's machines
    v4([169, 254, 0, 0], 16),   // link-local
    v4([172, 16, 0, 0], 12),    // private
    v4([192, 0, 0, 0], 24),     // protocol assignments
    v4([192, 0, 2, 0], 24),     // documentation
    v4([192, 31, 196, 0], 24),  // AS112
    v4([192, 52, 193, 0], 24),  // AMT
    v4([192, 88, 99, 0], 24),   // relays of 6to4
    v4([192, 168, 0, 0], 16),   // private
    v4([198, 18, 0, 0], 15),    // benchmarks
    v4([198, 51, 100, 0], 24),  // documentation
    v4([203, 0, 113, 0], 24),   // documentation
    v4([224, 0, 0, 0], 3),      // multicast, reserved, broadcast
];

/// All public IPv6 addresses are here (<https://www.iana.org/assignments/ipv6-address-space>): loopback, unique-local,
/// link-local, multicast and IPv4-mapped addresses and NAT64's own prefixes are not.
const GLOBAL_V6: Ipv6Net = v6([0x2000, 0], 3);

/// IPv6 networks in [`GLOBAL_V6`] that are not public
/// (<https://www.iana.org/assignments/iana-ipv6-special-registry>).
const NOT_PUBLIC_V6: [Ipv6Net; 4] = [
    v6([0x2001, 0], 23),     // protocol assignments, with Teredo, benchmarks and ORCHID
    v6([0x2001, 0xdb8], 32), // documentation
    v6([0x2002, 0], 16),     // 6to4, which contains an IPv4 address
    v6([0x3fff, 0], 20),     // documentation
];

const fn v4([a, b, c, d]: [u8; 4], length: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

const fn v6([a, b]: [u16; 2], length: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), length)
}

/// Whether everybody on the internet can reach the address. It must be canonical: not an IPv4-mapped IPv6 address.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !NOT_PUBLIC_V4.iter().any(|network| network.contains(&address)),
        IpAddr::V6(address) => {
            GLOBAL_V6.contains(&address) && !NOT_PUBLIC_V6.iter().any(|network| network.contains(&address))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(allowed: &[&str]) -> UrlRules {
        UrlRules::new(allowed.iter().map(|network| network.parse().unwrap()).collect())
    }

    #[test]
    fn only_public_addresses_are_allowed() {
        let none = rules(&[]);
        for public in ["1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "198.20.0.1", "223.255.255.255"]
            .into_iter()
            .chain(["2606:4700:4700::1111", "2001:4860:4860::8888", "2a00::1", "::ffff:8.8.8.8"])
        {
            assert!(none.allow(public.parse().unwrap(), true), "{public}");
            assert!(!none.allow(public.parse().unwrap(), false), "{public} without TLS");
        }
        for own in
            ["0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.8.8.8"]
                .into_iter()
                .chain([
                    "169.254.169.254",
                    "172.16.0.1",
                    "172.31.255.255",
                    "192.168.1.1",
                    "192.0.0.8",
                    "192.0.2.1",
                ])
                .chain([
                    "198.18.0.1",
                    "198.51.100.1",
                    "203.0.113.1",
                    "224.0.0.1",
                    "240.0.0.1",
                    "255.255.255.255",
                ])
                .chain([
                    "168.63.129.16",
                    "::",
                    "::1",
                    "fe80::1",
                    "fec0::1",
                    "fc00::1",
                    "fd00:ec2::254",
                    "ff02::1",
                ])
                .chain([
                    "::ffff:127.0.0.1",
                    "::ffff:10.0.0.1",
                    "::127.0.0.1",
                    "64:ff9b::7f00:1",
                    "64:ff9b:1::1",
                ])
                .chain([
                    "2001:db8::1",
                    "3fff::1",
                    "2002:7f00:1::1",
                    "2001::1",
                    "2001:10::1",
                    "100::1",
                    "5f00::1",
                ])
        {
            assert!(!none.allow(own.parse().unwrap(), true), "{own}");
        }
    }

    #[test]
    fn the_operator_s_networks_are_allowed_without_tls_too() {
        let some = rules(&["127.0.0.0/8", "fd00:1::/32"]);
        for allowed in ["127.0.0.1", "::ffff:127.0.0.1", "fd00:1::9"] {
            assert!(some.allow(allowed.parse().unwrap(), false), "{allowed}");
        }
        for other in ["128.0.0.1", "::1", "fd00:2::9", "8.8.8.8"] {
            assert!(!some.allow(other.parse().unwrap(), false), "{other}");
        }
    }

    #[test]
    fn a_url_is_normalised() {
        let parsed = |url: &str| rules(&["10.0.0.0/8"]).parse(url).map(|url| url.as_str().to_owned());
        for (url, expected) in [
            ("https://Example.COM", "https://example.com/"),
            ("https://example.com:443/a?b=c", "https://example.com/a?b=c"),
            ("https://1.1/hook", "https://1.0.0.1/hook"),
            ("http://10.1/hook", "http://10.0.0.1/hook"),
            ("http://name.example:8080/", "http://name.example:8080/"),
        ] {
            assert_eq!(parsed(url), Ok(expected.to_owned()));
        }
        assert!(parsed("https://ਪੰਜਾਬੀ.example/x").unwrap().starts_with("https://xn--"));
    }

    #[test]
    fn a_redirect_is_checked_like_a_url() {
        let rules = rules(&[]);
        let from = rules.parse("https://example.com/a/b?key=1").unwrap();
        let to = |location: &str| from.redirected(location, &rules).map(|url| url.as_str().to_owned());
        assert_eq!(to("/c?x#y"), Ok("https://example.com/c?x".to_owned()));
        assert_eq!(to("//other.example/c"), Ok("https://other.example/c".to_owned()));
        assert_eq!(to("http://example.com/c"), Err(CallerUrlError::Scheme("http".to_owned())));
        assert_eq!(to("https://10.0.0.1/"), Err(CallerUrlError::Address("10.0.0.1".parse().unwrap())));
    }

    #[test]
    fn a_url_is_shown_without_its_query() {
        let url = rules(&[]).parse("https://example.com:8443/a.mp3?signature=secret").unwrap();
        assert_eq!(url.without_query(), "https://example.com:8443/a.mp3");
        assert_eq!(format!("{url:?}"), r#"CallerUrl("https://example.com:8443/a.mp3")"#);
    }

    #[test]
    fn the_error_says_what_is_wrong_with_a_url() {
        let wrong = |url: &str| rules(&[]).parse(url).unwrap_err();
        let address = |text: &str| CallerUrlError::Address(text.parse().unwrap());
        for (url, expected) in [
            ("", CallerUrlError::NotAUrl),
            ("example.com/x", CallerUrlError::NotAUrl),
            ("https://", CallerUrlError::NotAUrl),
            ("https://256.1.1.1/", CallerUrlError::NotAUrl),
            ("http://example.com/", CallerUrlError::Scheme("http".to_owned())),
            ("file:///etc/passwd", CallerUrlError::Scheme("file".to_owned())),
            ("https://a:b@example.com/", CallerUrlError::UserInfo),
            ("https://a@example.com/", CallerUrlError::UserInfo),
            ("https://example.com/#x", CallerUrlError::Fragment),
            ("https://example.com:25/", CallerUrlError::Port(25)),
            ("https://127.1/", address("127.0.0.1")),
            ("https://2130706433/", address("127.0.0.1")),
            ("https://0x7f.0.0.1/", address("127.0.0.1")),
            ("https://[::ffff:10.0.0.1]/", address("::ffff:10.0.0.1")),
            ("https://[fe80::1]:8443/", address("fe80::1")),
        ] {
            assert_eq!(wrong(url), expected, "{url}");
        }
        let long = format!("https://example.com/{}", "x".repeat(2029));
        assert_eq!(wrong(&long), CallerUrlError::TooLong(2049));
        assert!(rules(&[]).parse(&long[..2048]).is_ok());
        let grows = format!("https://example.com/{}", "ੳ".repeat(400));
        assert!(matches!(wrong(&grows), CallerUrlError::TooLong(_)), "in its normal form it is longer");
    }
}
