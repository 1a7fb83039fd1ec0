//! The Prefer header (RFC 7240): how long the caller wants to wait, and the Preference-Applied header of the
//! response.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue};

use super::header::Header;

/// The header.
pub(crate) const HEADER: Header = Header {
    example: Some("wait=5"),
    ..Header::new(
        "Prefer",
        "`respond-async`: respond with 202 at once. `wait=N`: wait at most N seconds for the job to end.",
    )
};

/// A caller's preferences about waiting. Preferences that cannot be parsed are ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Preferences {
    respond_async: bool,
    wait_s: Option<u64>,
}

impl Preferences {
    /// Parses all Prefer headers of a request. If a preference is given twice, the first one is used.
    pub(crate) fn read(headers: &HeaderMap) -> Self {
        let mut read = Self::default();
        let lines = headers.get_all(HEADER.name).iter().filter_map(|v| v.to_str().ok());
        for preference in lines.flat_map(|line| line.split(',')) {
            let (name, value) = split(preference);
            if name.eq_ignore_ascii_case("respond-async") {
                read.respond_async = true;
            } else if name.eq_ignore_ascii_case("wait") && read.wait_s.is_none() {
                read.wait_s = value.parse().ok();
            }
        }
        read
    }

    /// How long the request waits for its outcome, at most `limit`.
    pub(crate) fn wait_within(self, limit: Duration) -> Duration {
        match self.wait_s {
            Some(seconds) => limit.min(Duration::from_secs(seconds)),
            None if self.respond_async => Duration::ZERO,
            None => limit,
        }
    }

    /// The value of the `Preference-Applied` header. `None` if the caller sent no preferences.
    pub(crate) fn applied(self) -> Option<HeaderValue> {
        let text = match (self.respond_async, self.wait_s) {
            (false, None) => return None,
            (true, None) => "respond-async".to_owned(),
            (false, Some(n)) => format!("wait={n}"),
            (true, Some(n)) => format!("respond-async, wait={n}"),
        };
        HeaderValue::try_from(text).ok()
    }
}

/// Splits a preference into name and value: `wait="10"; x=y` becomes `wait` and `10`.
fn split(preference: &str) -> (&str, &str) {
    let preference = preference.split(';').next().unwrap_or_default();
    let (name, value) = preference.split_once('=').unwrap_or((preference, ""));
    (name.trim(), value.trim().trim_matches('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    fn read(lines: &[&str]) -> (u64, Option<String>) {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(HEADER.name, line.parse().unwrap());
        }
        let read = Preferences::read(&headers);
        (read.wait_within(LIMIT).as_secs(), read.applied().map(|v| v.to_str().unwrap().to_owned()))
    }

    #[test]
    fn preferences_are_parsed_as_in_rfc_7240() {
        assert_eq!(read(&[]), (30, None));
        assert_eq!(read(&["respond-async"]), (0, Some("respond-async".into())));
        assert_eq!(read(&["wait=5"]), (5, Some("wait=5".into())));
        assert_eq!(read(&["Wait = \"5\"; x=y, foo"]), (5, Some("wait=5".into())));
        assert_eq!(read(&["wait=300"]), (30, Some("wait=300".into())));
        assert_eq!(read(&["wait=0"]), (0, Some("wait=0".into())));
        assert_eq!(read(&["respond-async, wait=10"]), (10, Some("respond-async, wait=10".into())));
        assert_eq!(read(&["respond-async", "wait=7", "wait=9"]), (7, Some("respond-async, wait=7".into())));
    }

    #[test]
    fn preferences_that_cannot_be_parsed_are_ignored() {
        for odd in
            ["wait", "wait=", "wait=-1", "wait=x", "wait=99999999999999999999", "handling=lenient", ",,;="]
        {
            assert_eq!(read(&[odd]), (30, None), "{odd}");
        }
    }
}
