//! Cross-origin resource sharing: which web pages may send requests from browsers.

use std::time::Duration;

use akhar_platform::origins::Origins;
use axum::http::{HeaderValue, Method};
use tower_http::cors::{AllowHeaders, AllowOrigin, Any, CorsLayer};

/// How long a browser may remember what is allowed. Browsers do not remember it longer.
const MAX_AGE: Duration = Duration::from_secs(2 * 3600);

/// The layer that allows scripts of these origins to send any request and to read any header of the response. It allows no
/// cookies, so the sessions of operators are not open to them.
pub(crate) fn layer(origins: &Origins) -> CorsLayer {
    let values = origins.0.iter().filter_map(|origin| HeaderValue::from_str(origin.as_str()).ok());
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(values))
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers(Any)
        .max_age(MAX_AGE)
}
