//! The key that a request presents.
//!
//! Browsers cannot send a header of their own with a request that opens a socket, so there the key may be a subprotocol, as with
//! OpenAI's API. It may be a secret too: a token with the session that it is for behind a dot.

use akhar_accounts::PresentedKey;
use axum::http::{HeaderMap, header};

/// The subprotocol of sockets.
pub(crate) const PROTOCOL: &str = "realtime";
const KEY: &str = "openai-insecure-api-key.";
/// The subprotocol and the header of clients of the version before.
const FORMER: &str = "openai-beta.realtime-v1";
const BETA: &str = "openai-beta";
const BETA_REALTIME: &str = "realtime=v1";

/// The key in the Authorization header. `None` if there is not exactly one header, or its value is not a Bearer key.
pub(super) fn key(headers: &HeaderMap) -> Option<PresentedKey> {
    PresentedKey::parse(bearer(headers)?)
}

/// What the Authorization header has for the scheme Bearer. `None` if there is not exactly one header.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim_matches(' '))
}

/// What a request to open a socket presents.
pub(crate) struct SocketKey {
    pub(super) key: PresentedKey,
    /// The session behind the token of a secret.
    pub(crate) session: Option<String>,
    /// Whether it asks for the former names.
    pub(crate) is_former: bool,
}

/// The key or secret in the header Authorization, or in the subprotocols if there is no such header.
pub(crate) fn socket_key(headers: &HeaderMap) -> Option<SocketKey> {
    let protocols = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter();
    let protocols: Vec<&str> = protocols
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .collect();
    let sent = match bearer(headers) {
        Some(sent) => sent,
        None if headers.contains_key(header::AUTHORIZATION) => return None,
        None => protocols.iter().find_map(|protocol| protocol.strip_prefix(KEY))?,
    };
    let is_former =
        protocols.contains(&FORMER) || headers.get_all(BETA).iter().any(|value| value == BETA_REALTIME);
    let of = |key: &str, session: Option<&str>| {
        let key = PresentedKey::parse(key)?;
        Some(SocketKey { key, session: session.map(str::to_owned), is_former })
    };
    match sent.split_once('.') {
        Some((token, session)) => of(token, Some(session)).filter(|secret| secret.key.is_token),
        None => of(sent, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_well_formed_bearer_key_is_accepted() {
        let key = format!("ak_AAAAAAAA_{}", "b".repeat(43));
        let presents = |lines: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::AUTHORIZATION, (*line).try_into().unwrap());
            }
            super::key(&headers).is_some()
        };
        let bearer = format!("Bearer {key}");
        assert!(presents(&[bearer.as_bytes()]));
        assert!(presents(&[format!("bearer  {key}").as_bytes()]));
        assert!(!presents(&[bearer.as_bytes(), bearer.as_bytes()]));
        for odd in [&b""[..], b"Bearer", b"Bearer ", b"Bearer x", b"\xff\xfe", key.as_bytes(), b"Basic YTpi"]
        {
            assert!(!presents(&[odd]), "{odd:?}");
        }
        assert!(!presents(&[format!("Basic {key}").as_bytes()]));
        assert!(!presents(&[]));
    }

    #[test]
    fn a_key_or_a_secret_is_in_a_header_or_a_subprotocol() {
        let key = format!("ak_AAAAAAAA_{}", "b".repeat(43));
        let secret = format!("at_AAAAAAAA_{}.e30", "b".repeat(43));
        let found = |lines: &[(header::HeaderName, String)]| {
            let mut headers = HeaderMap::new();
            for (name, value) in lines {
                headers.append(name, value.parse().unwrap());
            }
            socket_key(&headers).map(|found| (found.key.is_token, found.session, found.is_former))
        };
        let bearer = |key: &str| (header::AUTHORIZATION, format!("Bearer {key}"));
        let protocols = |key: &str| (header::SEC_WEBSOCKET_PROTOCOL, format!("realtime, {KEY}{key}"));
        let of_secret = Some((true, Some("e30".to_owned()), false));
        assert_eq!(found(&[bearer(&key)]), Some((false, None, false)));
        assert_eq!(found(&[bearer(&secret)]), of_secret);
        assert_eq!(found(&[protocols(&secret)]), of_secret);
        let former = (header::SEC_WEBSOCKET_PROTOCOL, FORMER.to_owned());
        assert_eq!(found(&[protocols(&key), former]), Some((false, None, true)));
        for odd in [
            vec![],
            vec![bearer(&format!("{key}.e30"))],
            vec![bearer("x"), protocols(&key)],
            vec![protocols("x")],
            vec![(header::SEC_WEBSOCKET_PROTOCOL, PROTOCOL.to_owned())],
        ] {
            assert_eq!(found(&odd), None, "{odd:?}");
        }
    }
}
