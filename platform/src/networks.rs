//! A setting that lists networks.

use std::{fmt, net::IpAddr};

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// Networks, written as `10.1.0.0/16, fd00::/8, 192.168.1.5`: networks and addresses, separated by commas.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Networks(pub Vec<IpNet>);

impl Networks {
    /// Whether one of them has this address.
    pub fn contain(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// A part of the text is neither a network nor an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a network, expected networks such as 10.1.0.0/16, separated by commas")]
pub struct NotANetwork(String);

impl TryFrom<String> for Networks {
    type Error = NotANetwork;

    fn try_from(text: String) -> Result<Self, NotANetwork> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let network = |part: &str| {
            let address = || part.parse::<IpAddr>().map(IpNet::from).ok();
            part.parse().ok().or_else(address).ok_or_else(|| NotANetwork(part.to_owned()))
        };
        parts.map(network).collect::<Result<_, _>>().map(Self)
    }
}

impl From<Networks> for String {
    fn from(networks: Networks) -> Self {
        networks.to_string()
    }
}

impl fmt::Display for Networks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.0.iter().map(IpNet::to_string).collect();
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_and_addresses_are_separated_by_commas() {
        let read = |text: &str| Networks::try_from(text.to_owned());
        let networks = read("10.1.0.0/16,fd00::/8 , 192.168.1.5,").unwrap();
        assert_eq!(networks.to_string(), "10.1.0.0/16, fd00::/8, 192.168.1.5/32");
        assert_eq!(read("").unwrap(), Networks::default());
        for wrong in ["10.0.0.0/33", "localhost", "10.0.0.0/8 fd00::/8", "*"] {
            assert_eq!(read(&format!("127.0.0.1, {wrong}")), Err(NotANetwork(wrong.to_owned())));
        }
    }
}
