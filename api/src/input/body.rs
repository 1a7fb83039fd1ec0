//! Reads a request's body within limits of size and time.

use std::{
    borrow::Cow,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody as _},
    http::{HeaderMap, header},
};
use futures::{Stream, StreamExt as _};
use tokio::time::{Instant, Sleep, sleep_until};

use super::memory::Buffer;
use crate::problems::{Problem, ProblemType};

/// How long the client may send no data.
const STALL_LIMIT: Duration = Duration::from_secs(30);
/// How long a body may take, whatever its length.
const SURE_TIME: Duration = Duration::from_secs(60);
/// The least rate of a body that takes longer, bytes per second from its beginning.
const MIN_RATE: u64 = 2 * 1024;

/// A body that arrives. The stream of its data fails when it breaks a limit.
#[derive(Debug)]
pub(super) struct ArrivingBody {
    body: Body,
    /// The length by the Content-Length header.
    pub(super) announced: Option<usize>,
    max_bytes: usize,
    n_bytes: usize,
    began_at: Instant,
    /// Ends when the client has sent too little for too long.
    deadline: Pin<Box<Sleep>>,
    /// Whether data was returned by the last call.
    has_returned: bool,
}

/// Why a body is not read further.
#[derive(Debug, thiserror::Error)]
#[error("the body is refused")]
pub(super) struct Refused(pub(super) Problem);

impl ArrivingBody {
    /// A body that begins to arrive now. Fails if its Content-Length is larger than `max_bytes`, or if it has a content
    /// coding such as gzip.
    pub(super) fn new(headers: &HeaderMap, body: Body, max_bytes: usize) -> Result<Self, Problem> {
        refuse_codings(headers)?;
        let announced =
            headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<u64>().ok());
        let announced = announced.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        if announced.is_some_and(|n| n > max_bytes) {
            return Err(too_large(max_bytes));
        }
        let began_at = Instant::now();
        let deadline = Box::pin(sleep_until(began_at + STALL_LIMIT));
        Ok(Self { body, announced, max_bytes, n_bytes: 0, began_at, deadline, has_returned: false })
    }

    /// Reads the whole body into a buffer.
    pub(super) async fn read_into(mut self, mut buffer: Buffer) -> Result<Bytes, Problem> {
        while let Some(data) = self.next().await {
            if !buffer.push(&data.map_err(|Refused(problem)| problem)?)? {
                return Err(too_large(self.max_bytes));
            }
        }
        Ok(buffer.into_bytes())
    }

    fn postpone_deadline(&mut self) {
        let at_least = Duration::from_millis(self.n_bytes as u64 * 1000 / MIN_RATE);
        let deadline = (self.began_at + SURE_TIME + at_least).min(Instant::now() + STALL_LIMIT);
        self.deadline.as_mut().reset(deadline);
    }
}

impl Stream for ArrivingBody {
    type Item = Result<Bytes, Refused>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // The parser of multipart reads data until none is ready, and keeps all of it. So it gets one piece at a time.
        if std::mem::take(&mut self.has_returned) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(cx) else {
            ready!(self.deadline.as_mut().poll(cx));
            return Poll::Ready(Some(Err(Refused(Problem::of(ProblemType::BodyTimeout)))));
        };
        let data = match frame {
            None => return Poll::Ready(None),
            Some(Ok(frame)) => frame.into_data().unwrap_or_else(|_trailers| Bytes::new()),
            Some(Err(error)) => {
                tracing::debug!(%error, "cannot read the body");
                let detail =
                    "The connection failed before the whole body had arrived. Send the request again.";
                return Poll::Ready(Some(Err(Refused(malformed(detail)))));
            }
        };
        self.n_bytes += data.len();
        if self.n_bytes > self.max_bytes {
            return Poll::Ready(Some(Err(Refused(too_large(self.max_bytes)))));
        }
        self.postpone_deadline();
        self.has_returned = true;
        Poll::Ready(Some(Ok(data)))
    }
}

/// The problem of a body that is larger than its limit.
fn too_large(max_bytes: usize) -> Problem {
    let detail = format!("The body is larger than the limit of {max_bytes} bytes.");
    Problem::of(ProblemType::TooLarge).with_detail(detail)
}

/// Fails if the body has a content coding, because no body is decoded.
fn refuse_codings(headers: &HeaderMap) -> Result<(), Problem> {
    for coding in headers.get_all(header::CONTENT_ENCODING) {
        let coding = String::from_utf8_lossy(coding.as_bytes());
        if !coding.trim().eq_ignore_ascii_case("identity") {
            let detail = format!("Content-Encoding is {coding:?}, expected a body without a content coding.");
            return Err(Problem::of(ProblemType::UnsupportedContentType).with_detail(detail));
        }
    }
    Ok(())
}

/// The problem of a body that does not match its Content-Type.
pub(super) fn malformed(detail: impl Into<Cow<'static, str>>) -> Problem {
    Problem::of(ProblemType::MalformedBody).with_detail(detail)
}

#[cfg(test)]
pub(super) mod tests {
    use std::convert::Infallible;

    use http_body::Frame;

    use super::{super::memory::tests::plenty, *};

    /// A body of the given chunks that never ends.
    pub(crate) fn stalling(next: impl FnMut() -> Option<&'static str> + Send + Unpin + 'static) -> Body {
        struct Stalling<F>(F);
        impl<F: FnMut() -> Option<&'static str> + Unpin> http_body::Body for Stalling<F> {
            type Data = Bytes;
            type Error = Infallible;
            fn poll_frame(
                mut self: Pin<&mut Self>,
                _: &mut Context<'_>,
            ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
                match (self.0)() {
                    Some(chunk) => Poll::Ready(Some(Ok(Frame::data(chunk.into())))),
                    None => Poll::Pending,
                }
            }
        }
        Body::new(Stalling(next))
    }

    async fn whole(body: Body, max_bytes: usize) -> Result<usize, ProblemType> {
        let arriving = ArrivingBody::new(&HeaderMap::new(), body, max_bytes).unwrap();
        let buffer = plenty().take(None, max_bytes).unwrap();
        arriving.read_into(buffer).await.map(|bytes| bytes.len()).map_err(|p| p.problem_type())
    }

    #[tokio::test]
    async fn a_body_may_be_as_large_as_the_limit_but_no_larger() {
        assert_eq!(whole(vec![7; 10].into(), 10).await, Ok(10));
        assert_eq!(whole(vec![7; 11].into(), 10).await, Err(ProblemType::TooLarge));
        let endless = stalling(|| Some("abcd")); // refused while it arrives
        assert_eq!(whole(endless, 10).await, Err(ProblemType::TooLarge));
        let announced = |n: &str| HeaderMap::from_iter([(header::CONTENT_LENGTH, n.parse().unwrap())]);
        assert!(ArrivingBody::new(&announced("10"), Body::empty(), 10).is_ok());
        for more in ["11", "18446744073709551615"] {
            assert!(ArrivingBody::new(&announced(more), Body::empty(), 10).is_err());
        }
    }

    #[tokio::test]
    async fn a_body_with_a_content_coding_is_refused() {
        let of = |coding: &str| {
            let headers = HeaderMap::from_iter([(header::CONTENT_ENCODING, coding.parse().unwrap())]);
            ArrivingBody::new(&headers, Body::empty(), 10)
        };
        assert!(of("Identity").is_ok());
        for coding in ["gzip", "identity, br"] {
            assert_eq!(
                of(coding).unwrap_err().problem_type(),
                ProblemType::UnsupportedContentType,
                "{coding}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stalls_times_out() {
        let started = Instant::now();
        let mut chunks = vec!["a", "b"];
        assert_eq!(whole(stalling(move || chunks.pop()), 10).await, Err(ProblemType::BodyTimeout));
        assert_eq!(started.elapsed(), STALL_LIMIT);
    }

    /// A body of 500 pieces, one every 10 s.
    fn slow(n_bytes: usize) -> Body {
        let pieces = futures::stream::iter(0..500).then(move |_| async move {
            tokio::time::sleep(Duration::from_secs(10)).await;
            Ok::<_, Infallible>(vec![7; n_bytes])
        });
        Body::from_stream(pieces)
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_arrives_whole_and_one_that_hardly_moves_does_not() {
        assert_eq!(whole(slow(21_000), 11_000_000).await, Ok(10_500_000));
        let started = Instant::now();
        assert_eq!(whole(slow(1000), 11_000_000).await, Err(ProblemType::BodyTimeout));
        assert!(started.elapsed() < 2 * SURE_TIME);
    }
}
