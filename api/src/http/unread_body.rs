//! What a refused request still sends: a body comes in and is lent out; its unread rest can be discarded.
//!
//! Closing a connection on unread data resets it, and a reset can overtake the answer: a caller refused
//! early would see a broken connection instead of its 401 or 413.

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

/// Bytes discarded at most; a caller that sends more finds its connection closed.
const MAX_BYTES: usize = 1024 * 1024;
/// Time spent on it at most.
const MAX_TIME: Duration = Duration::from_secs(1);

/// A hold on a body that somebody else reads.
#[derive(Debug, Clone)]
pub(crate) struct Leftover(Arc<Mutex<Body>>);

/// The body in the reader's hands.
struct Lent(Leftover);

impl Leftover {
    /// Keeps hold of a body, and lends it.
    pub(crate) fn of(body: Body) -> (Self, Body) {
        let leftover = Self(Arc::new(Mutex::new(body)));
        let lent = Body::new(Lent(leftover.clone()));
        (leftover, lent)
    }

    fn lock(&self) -> MutexGuard<'_, Body> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what is left and throws it away, within bounds.
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

impl HttpBody for Lent {
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
