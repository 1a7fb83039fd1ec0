//! The headers about quotas, as in the IETF's draft
//! (<https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/>).

use std::{sync::Arc, time::Duration};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use parking_lot::Mutex;

const RATELIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATELIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// A quota that a request counts against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RateLimit {
    /// Its name, which problems use too.
    pub(crate) name: &'static str,
    /// What is counted. `None` for requests.
    pub(crate) unit: Option<&'static str>,
    /// How much the account may use in the window.
    pub(crate) quota: u32,
    /// The window.
    pub(crate) window: Duration,
    /// How much is left.
    pub(crate) n_left: u32,
    /// The time until all of it is available again.
    pub(crate) reset_in: Duration,
}

/// The quotas that a request counts against. Handlers add them, and the middleware writes the headers.
#[derive(Debug, Clone, Default)]
pub(crate) struct RateLimits(Arc<Mutex<Vec<RateLimit>>>);

impl RateLimits {
    /// Adds a quota.
    pub(crate) fn add(&self, limit: RateLimit) {
        self.0.lock().push(limit);
    }

    /// Writes the headers. Without a quota there are none.
    pub(crate) fn write(&self, headers: &mut HeaderMap) {
        let limits = self.0.lock();
        let mut write = |name, item: fn(&RateLimit) -> String| {
            let items: Vec<String> = limits.iter().map(item).collect();
            if let Ok(value) = HeaderValue::try_from(items.join(", "))
                && !items.is_empty()
            {
                headers.insert(name, value);
            }
        };
        write(RATELIMIT_POLICY, RateLimit::policy);
        write(RATELIMIT, RateLimit::state);
    }
}

impl RateLimit {
    fn policy(&self) -> String {
        let Self { name, unit, quota, window, .. } = self;
        let unit = unit.map(|unit| format!(";qu=\"{unit}\"")).unwrap_or_default();
        format!("\"{name}\";q={quota}{unit};w={}", window.as_secs())
    }

    fn state(&self) -> String {
        let reset_s = self.reset_in.as_millis().div_ceil(1000);
        format!("\"{}\";r={};t={reset_s}", self.name, self.n_left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headers_have_all_quotas_in_the_syntax_of_the_draft() {
        let (limits, mut headers) = (RateLimits::default(), HeaderMap::new());
        limits.write(&mut headers);
        assert!(headers.is_empty());
        let minute = Duration::from_secs(60);
        let requests = RateLimit {
            name: "rpm",
            unit: None,
            quota: 100,
            window: minute,
            n_left: 50,
            reset_in: Duration::from_millis(29_001),
        };
        limits.add(requests);
        limits.add(RateLimit {
            name: "audio-minutes",
            unit: Some("minutes"),
            window: 1440 * minute,
            ..requests
        });
        limits.write(&mut headers);
        assert_eq!(headers[RATELIMIT], "\"rpm\";r=50;t=30, \"audio-minutes\";r=50;t=30");
        let policies = "\"rpm\";q=100;w=60, \"audio-minutes\";q=100;qu=\"minutes\";w=86400";
        assert_eq!(headers[RATELIMIT_POLICY], policies);
    }
}
