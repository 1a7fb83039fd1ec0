//! Responses that are streams of Server-Sent Events.

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, header::CONTENT_TYPE},
    response::{
        IntoResponse as _, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use bytes::Bytes;
use futures::Stream;
use http_body::Frame;
use http_body_util::BodyExt as _;

/// The time without an event after which a comment is sent, so that nothing between the two sides closes the connection.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(15);

/// The time after which a client that has lost a stream should connect again.
pub(crate) const RECONNECT_AFTER_MS: u32 = 1000;

/// A header that tells proxies (nginx) to pass each event on at once.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// An event with an id. `retry` is the time after which to connect again, ms.
pub(crate) fn event(name: &str, id: String, data: String, retry: Option<u32>) -> Event {
    let event = Event::default().id(id).event(name).data(data);
    match retry {
        Some(ms) => event.retry(Duration::from_millis(ms.into())),
        None => event,
    }
}

/// A response with these events, and comments while there are none.
pub(crate) fn respond(events: impl Stream<Item = Result<Event, axum::Error>> + Send + 'static) -> Response {
    let heartbeat = KeepAlive::new().interval(HEARTBEAT_INTERVAL);
    let mut response = Sse::new(events).keep_alive(heartbeat).into_response();
    response.headers_mut().insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    // Without a charset, some clients read the lines as ISO-8859-1, in which a byte of ਅ ends a line.
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    // The empty line behind a comment is not needed, and some clients take it for a message without data.
    let without_empty_line =
        |frame: Frame<Bytes>| frame.map_data(|data| if data == ":\n\n" { data.slice(..2) } else { data });
    response.map(|body| Body::new(body.map_frame(without_empty_line)))
}
