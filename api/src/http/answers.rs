//! The answers that are being sent. Their bytes, and the caller's share of the requests in progress, are held until the
//! connection has sent them, however slowly the caller reads.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use akhar_platform::budget::{Budget, LimitReached, Share};
use axum::{
    body::{Body, HttpBody},
    response::Response,
};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use parking_lot::Mutex;
use uuid::Uuid;

use crate::problems::Problem;

/// Up to this size, the share of a request in progress is enough for an answer.
const SMALL_BYTES: usize = 16 * 1024;

/// The memory of answers, by account.
#[derive(Debug, Clone)]
pub(crate) struct Answers(Arc<Budget<Uuid>>);

/// The share of the requests in progress that a request has, from when its caller is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestShare(Arc<Mutex<Option<Share<Uuid>>>>);

impl RequestShare {
    /// Holds the share from now on.
    pub(crate) fn hold(&self, share: Share<Uuid>) {
        *self.0.lock() = Some(share);
    }

    /// Takes the share: nobody else holds it any more.
    pub(crate) fn take(&self) -> Option<Share<Uuid>> {
        self.0.lock().take()
    }
}

impl Answers {
    /// `max_upload_bytes` are for the bodies of requests.
    pub(crate) fn new(max_upload_bytes: usize) -> Self {
        let (total, of_account) = Self::limits(max_upload_bytes);
        Self(Budget::new(total, of_account))
    }

    /// Changes the bytes.
    pub(crate) fn set_limit(&self, max_upload_bytes: usize) {
        let (total, of_account) = Self::limits(max_upload_bytes);
        self.0.set_limits(total, of_account);
    }

    /// The bytes of all answers that may wait to be sent, and of those to one account.
    const fn limits(max_upload_bytes: usize) -> (usize, usize) {
        let total = max_upload_bytes / 2;
        (total, total - total / 4)
    }

    /// Holds the share of a request, and memory for its answer. `None`: an answer without a known end is a stream of events,
    /// which has a limit of its own.
    pub(crate) fn hold(&self, answer: &Response, request: Share<Uuid>) -> Result<Option<Held>, Problem> {
        let Some(n_bytes) = answer.body().size_hint().exact() else { return Ok(None) };
        let n_bytes = usize::try_from(n_bytes).unwrap_or(usize::MAX);
        let memory = if n_bytes > SMALL_BYTES {
            Some(self.0.take_up_to_part(*request.key(), n_bytes).map_err(unread)?)
        } else {
            None
        };
        Ok(Some(Held(Arc::new(Holds { _request: request, _memory: memory }))))
    }
}

/// What is held for an answer that is not being sent yet.
pub(crate) struct Held(Arc<Holds>);

impl Held {
    /// Holds it until all of the answer is sent.
    pub(crate) fn until_sent(self, answer: Response) -> Response {
        answer.map(|body| Body::new(HeldBody { body, holds: self.0 }))
    }
}

fn unread(limit: LimitReached) -> Problem {
    let detail = match limit {
        LimitReached::OfKey => {
            "Your account has not read as many large answers as it may have at once. Read those that are being sent, and ask \
             for the job's result again."
        }
        LimitReached::OfAll => {
            "The server sends as many large answers as it can. Ask for the job's result again later."
        }
    };
    Problem::of(limit.into()).with_detail(detail)
}

/// What is held for an answer.
struct Holds {
    _request: Share<Uuid>,
    _memory: Option<Share<Uuid>>,
}

struct HeldBody {
    body: Body,
    holds: Arc<Holds>,
}

/// A part of an answer, which the connection keeps until it is sent.
struct HeldBytes {
    bytes: Bytes,
    _holds: Arc<Holds>,
}

impl AsRef<[u8]> for HeldBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl HttpBody for HeldBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        let hold = |bytes| Bytes::from_owner(HeldBytes { bytes, _holds: self.holds.clone() });
        frame.map_ok(|frame| frame.map_data(hold))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
