//! Responses that are streams of Server-Sent Events.

use std::time::Duration;

use axum::{
    http::{HeaderName, HeaderValue},
    response::{
        IntoResponse as _, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures::Stream;

/// The time without an event after which a comment is sent, so that nothing between the two sides closes the connection.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);

/// A header that tells proxies (nginx) to pass each event on at once.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A response with these events, and comments while there are none.
pub(crate) fn respond(events: impl Stream<Item = Result<Event, axum::Error>> + Send + 'static) -> Response {
    let heartbeat = KeepAlive::new().interval(HEARTBEAT_INTERVAL);
    let mut response = Sse::new(events).keep_alive(heartbeat).into_response();
    response.headers_mut().insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    response
}
