//! Discards the unread rest of a rejected request's body, while the response is sent.
//!
//! Closing a connection with unread data resets it. A client that sends all of its request before it reads, as many do and
//! proxies too, would then get a connection error instead of the 401 or 413.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use parking_lot::Mutex;
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout, timeout_at},
};

/// The most bytes that are discarded. If the client sends more, its connection is closed.
const MAX_BYTES: u64 = 1024 * 1024 * 1024;
/// How long the client may send nothing.
const STALL_LIMIT: Duration = Duration::from_secs(10);
/// The most time that is spent on discarding.
const MAX_TIME: Duration = Duration::from_secs(30);

/// How many bodies are discarded at the same time. The others are not read meanwhile, so that a thousand rejected uploads
/// do not take the processor time of other requests.
const MAX_DISCARDS: usize = 32;
/// How long a body may wait until it is discarded. After that its connection is closed.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// Limits how many bodies are discarded at the same time.
#[derive(Debug, Clone)]
pub(crate) struct Discards(Arc<Semaphore>);

impl Default for Discards {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_DISCARDS)))
    }
}

/// A handle on a body that a handler reads.
#[derive(Debug, Clone)]
pub(crate) struct UnreadBody(Arc<Mutex<Body>>);

/// The same body, for the handler.
struct SharedBody(Arc<Mutex<Body>>);

impl UnreadBody {
    /// Returns a handle on the body, and the body for the handler.
    pub(crate) fn share(body: Body) -> (Self, Body) {
        let body = Arc::new(Mutex::new(body));
        (Self(body.clone()), Body::new(SharedBody(body)))
    }

    /// Reads the rest of the body in the background and discards it, within limits of size and time. The connection is closed
    /// after that, or at once if too many other bodies are being discarded.
    pub(crate) fn discard(self, discards: &Discards) {
        if !self.0.lock().is_end_stream() {
            let discards = discards.clone();
            tokio::spawn(async move { self.read_on(&discards).await });
        }
    }

    async fn read_on(&self, discards: &Discards) {
        let Ok(Ok(_permit)) = timeout(MAX_WAIT, discards.0.acquire()).await else { return };
        let (deadline, mut n_bytes) = (Instant::now() + MAX_TIME, 0);
        while n_bytes <= MAX_BYTES {
            let frame = std::future::poll_fn(|cx| Pin::new(&mut *self.0.lock()).poll_frame(cx));
            let stalled_at = deadline.min(Instant::now() + STALL_LIMIT);
            let Ok(Some(Ok(frame))) = timeout_at(stalled_at, frame).await else { return };
            n_bytes += frame.data_ref().map_or(0, Bytes::len) as u64;
        }
    }
}

impl HttpBody for SharedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut *self.0.lock()).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.0.lock().is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.lock().size_hint()
    }
}
