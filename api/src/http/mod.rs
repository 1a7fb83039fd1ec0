//! What all requests have in common: the middleware, and the headers that every handler reads.

pub(crate) mod accept;
pub(crate) mod answers;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod chunked;
pub(crate) mod compression;
pub(crate) mod context;
pub(crate) mod cors;
pub(crate) mod event_stream;
pub(crate) mod group;
pub(crate) mod header;
pub(crate) mod host;
pub(crate) mod idempotency_key;
pub(crate) mod middleware;
pub(crate) mod peer;
pub(crate) mod prefer;
pub(crate) mod public_path;
pub(crate) mod rate_limit;
pub(crate) mod representation;
pub(crate) mod request_line;
pub(crate) mod retain;
pub(crate) mod slow_reader;
pub(crate) mod unread_body;
pub(crate) mod webhook;
