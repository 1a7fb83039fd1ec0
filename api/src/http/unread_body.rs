//! Discards the unread rest of a rejected request's body.
//!
//! Closing a connection with unread data resets it, and the client may see the reset before it has read the response.
//! A client whose request is rejected early would then get a connection error instead of the 401 or 413.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Instant, timeout_at};

/// The most bytes that are discarded. If the client sends more, its connection is closed.
const MAX_BYTES: usize = 1024 * 1024;
/// The most time that is spent on discarding.
const MAX_TIME: Duration = Duration::from_secs(1);

/// A handle on a body that a handler reads.
#[derive(Debug, Clone)]
pub(crate) struct UnreadBody(Arc<Mutex<Body>>);

/// The same body, for the handler.
struct SharedBody(UnreadBody);

impl UnreadBody {
    /// Returns a handle on the body, and the body for the handler.
    pub(crate) fn share(body: Body) -> (Self, Body) {
        let unread = Self(Arc::new(Mutex::new(body)));
        let shared = Body::new(SharedBody(unread.clone()));
        (unread, shared)
    }

    fn lock(&self) -> MutexGuard<'_, Body> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the rest of the body and discards it, within limits of size and time.
    pub(crate) async fn discard(&self) {
        let deadline = Instant::now() + MAX_TIME;
        let mut n_bytes = 0;
        while n_bytes <= MAX_BYTES {
            let frame = std::future::poll_fn(|cx| Pin::new(&mut *self.lock()).poll_frame(cx));
            let Ok(Some(Ok(frame))) = timeout_at(deadline, frame).await else { return };
            n_bytes += frame.data_ref().map_or(0, Bytes::len);
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
