//! Cookies of the pages: reads and writes them.

use axum::http::{HeaderMap, HeaderValue, header};

/// The value of a cookie.
pub(super) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut cookies =
        lines.flat_map(|line| line.split(';')).filter_map(|cookie| cookie.trim().split_once('='));
    cookies.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// A cookie that only the pages below `path` get and that no script can read. It is sent over TLS only if this request came over TLS,
/// by the header that proxies add.
pub(super) fn set_cookie(
    request: &HeaderMap,
    path: &str,
    name: &str,
    value: &str,
    max_age_s: u64,
) -> Option<HeaderValue> {
    let secure = if is_over_tls(request) { "; Secure" } else { "" };
    let cookie =
        format!("{name}={value}; Path={path}; Max-Age={max_age_s}; HttpOnly; SameSite=Strict{secure}");
    HeaderValue::try_from(cookie).ok()
}

/// Whether the client's connection to the proxy in front of this process is encrypted.
fn is_over_tls(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    text("x-forwarded-proto").split(',').next().is_some_and(|p| p.trim().eq_ignore_ascii_case("https"))
        || text("forwarded").to_ascii_lowercase().split([';', ',']).any(|p| p.trim() == "proto=https")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())])
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let headers = with("cookie", "a=1; akhar_ops=abc;b=2");
        assert_eq!(cookie(&headers, "akhar_ops"), Some("abc"));
        assert_eq!(cookie(&headers, "c"), None);
        assert_eq!(cookie(&HeaderMap::new(), "akhar_ops"), None);
    }

    #[test]
    fn the_cookie_is_sent_over_tls_only_if_the_request_came_so() {
        let is_secure = |headers: &HeaderMap| {
            let cookie = set_cookie(headers, "/ops", "a", "b", 60).unwrap();
            let cookie = cookie.to_str().unwrap();
            assert!(cookie.starts_with("a=b; Path=/ops; Max-Age=60; HttpOnly; SameSite=Strict"));
            cookie.ends_with("; Secure")
        };
        assert!(is_secure(&with("x-forwarded-proto", "https")));
        assert!(is_secure(&with("x-forwarded-proto", "HTTPS, http")));
        assert!(is_secure(&with("forwarded", "for=192.0.2.1;proto=https")));
        for plain in [HeaderMap::new(), with("x-forwarded-proto", "http"), with("forwarded", "for=https")] {
            assert!(!is_secure(&plain), "{plain:?}");
        }
    }
}
