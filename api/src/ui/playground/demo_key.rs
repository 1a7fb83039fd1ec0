//! The demo key that the playground gets once, for the token of a link that `akhar serve` prints.
//!
//! The token is in the fragment of the link, so that no request line, log or `Referer` has it, and the page removes it from the
//! address. Only its SHA-256 is kept, in memory.

use std::{
    fmt,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// How long the link works.
const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// The demo key, until the page has got it.
#[derive(Clone)]
pub struct DemoKey(Arc<Mutex<Option<Offer>>>);

struct Offer {
    token_sha256: [u8; 32],
    key: String,
    ends: Instant,
}

impl fmt::Debug for DemoKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DemoKey")
    }
}

impl DemoKey {
    /// The page gets no key.
    pub fn none() -> Self {
        Self(Arc::default())
    }

    /// Offers a key at an address on which only this machine can connect. Returns the offer with the link to the page, which
    /// works once, for 15 minutes. Offers nothing at any other address.
    pub fn offer(address: SocketAddr, key: &str) -> (Self, Option<String>) {
        if !address.ip().is_loopback() {
            return (Self::none(), None);
        }
        let token = hex::encode(Sha256::digest(rand::random::<[u8; 32]>()));
        let offer = Offer {
            token_sha256: Sha256::digest(&token).into(),
            key: key.to_owned(),
            ends: Instant::now() + LIFETIME,
        };
        (Self(Arc::new(Mutex::new(Some(offer)))), Some(format!("http://{address}/#key={token}")))
    }

    /// The key, if the token is the right one, and comes for the first time and in time.
    pub(super) fn take(&self, token: &str, now: Instant) -> Option<String> {
        let sha256: [u8; 32] = Sha256::digest(token).into();
        let mut offer = self.0.lock();
        if offer.as_ref().is_some_and(|offer| now >= offer.ends) {
            *offer = None;
        }
        let is_right = offer.as_ref().is_some_and(|offer| offer.token_sha256.ct_eq(&sha256).into());
        if is_right { offer.take().map(|offer| offer.key) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: &str = "127.0.0.1:8080";

    fn token(link: &str) -> &str {
        link.strip_prefix("http://127.0.0.1:8080/#key=").unwrap()
    }

    #[test]
    fn a_token_works_once_and_in_time() {
        let (offer, link) = DemoKey::offer(HERE.parse().unwrap(), "ak_x");
        let link = link.unwrap();
        let now = Instant::now();
        assert_eq!(offer.take("", now), None);
        assert_eq!(offer.take(&token(&link).to_uppercase(), now), None);
        assert_eq!(offer.take(token(&link), now).as_deref(), Some("ak_x"));
        assert_eq!(offer.take(token(&link), now), None);

        let (late, link) = DemoKey::offer(HERE.parse().unwrap(), "ak_x");
        assert_eq!(late.take(token(&link.unwrap()), Instant::now() + LIFETIME), None);
    }

    #[test]
    fn nothing_is_offered_where_others_can_connect() {
        for address in ["0.0.0.0:80", "192.0.2.1:80", "[::]:80"] {
            let (offer, link) = DemoKey::offer(address.parse().unwrap(), "ak_x");
            assert!(link.is_none() && offer.0.lock().is_none(), "{address}");
        }
        assert!(DemoKey::offer("[::1]:80".parse().unwrap(), "ak_x").1.is_some());
    }
}
