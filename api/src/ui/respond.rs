//! Responses of pages: redirections, and the headers that protect a page in a browser.

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};

/// Sends the browser to another page, which it gets with GET.
pub(super) fn see_other(path: &str) -> Response {
    const LOCATION: HeaderName = header::LOCATION;
    (StatusCode::SEE_OTHER, [(LOCATION, path)]).into_response()
}

/// Adds the headers that protect a page in a browser: what it may load, who may embed it, and what other sites are told
/// of its address. The middleware of all routes forbids to store it.
pub(super) fn protect(mut response: Response, policy: &'static str, referrer: &'static str) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static(referrer));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}
