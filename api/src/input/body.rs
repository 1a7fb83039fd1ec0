//! Reads a request's body within limits of size and time.

use std::{borrow::Cow, future::poll_fn, pin::Pin, time::Duration};

use axum::{
    body::{Body, Bytes, HttpBody as _},
    http::{HeaderMap, header},
};
use tokio::time::{Instant, timeout_at};

use super::memory::{BodyMemory, Buffer, Reserved};
use crate::problems::{Problem, ProblemType};

/// The most bytes of a connection that are kept until they are parsed, and so of a piece of a body. A request whose line and
/// headers have more is answered with 431.
pub(crate) const MAX_PIECE_BYTES: usize = 64 * 1024;
/// How long the client may send no data.
const STALL_LIMIT: Duration = Duration::from_secs(30);
/// How long the client may send less than the least rate.
const SLOW_LIMIT: Duration = Duration::from_secs(60);
/// The least rate, bytes per second.
const MIN_RATE: u64 = 2 * 1024;

/// A body that arrives.
#[derive(Debug)]
pub(super) struct ArrivingBody {
    body: Body,
    /// The length by the Content-Length header.
    pub(super) announced: Option<usize>,
    max_bytes: usize,
    /// What the error about a larger body says beside that.
    advice: String,
    n_bytes: usize,
    /// When the client has sent nothing for too long.
    stalls_at: Instant,
    /// When the client has sent too little for too long. Each byte postpones it.
    too_slow_at: Instant,
    _memory: Reserved,
}

impl ArrivingBody {
    /// A body that begins to arrive now, with memory for one of its pieces. Fails if its Content-Length is larger than
    /// `max_bytes`, if it has a content coding such as gzip, or if there is no memory left. `advice` is a sentence for the
    /// error about a body that is too large.
    pub(super) fn new(
        headers: &HeaderMap,
        body: Body,
        max_bytes: usize,
        advice: String,
        memory: &BodyMemory,
    ) -> Result<Self, Problem> {
        refuse_codings(headers)?;
        let announced =
            headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<u64>().ok());
        let announced = announced.map(|n| usize::try_from(n).unwrap_or(usize::MAX));
        if announced.is_some_and(|n| n > max_bytes) {
            return Err(too_large(max_bytes, &advice));
        }
        let memory = memory.reserve(announced.unwrap_or(MAX_PIECE_BYTES).min(MAX_PIECE_BYTES))?;
        let now = Instant::now();
        let (stalls_at, too_slow_at) = (now + STALL_LIMIT, now + SLOW_LIMIT);
        Ok(Self { body, announced, max_bytes, advice, n_bytes: 0, stalls_at, too_slow_at, _memory: memory })
    }

    /// The next piece. `None` after the last one. Fails when the body breaks a limit or the connection ends.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Problem> {
        let frame = poll_fn(|cx| Pin::new(&mut self.body).poll_frame(cx));
        let frame = timeout_at(self.stalls_at.min(self.too_slow_at), frame).await;
        let piece = match frame.map_err(|_| Problem::of(ProblemType::BodyTimeout))? {
            None => return Ok(None),
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(), // trailers are not read
            Some(Err(error)) => {
                tracing::debug!(%error, "cannot read the body");
                let detail =
                    "The connection failed before the whole body had arrived. Send the request again.";
                return Err(malformed(detail));
            }
        };
        self.n_bytes += piece.len();
        if self.n_bytes > self.max_bytes {
            return Err(too_large(self.max_bytes, &self.advice));
        }
        if !piece.is_empty() {
            let now = Instant::now();
            let time_for_it = Duration::from_micros(piece.len() as u64 * 1_000_000 / MIN_RATE);
            self.stalls_at = now + STALL_LIMIT;
            self.too_slow_at = (self.too_slow_at + time_for_it).min(now + SLOW_LIMIT);
        }
        Ok(Some(piece))
    }

    /// Reads the whole body into a buffer.
    pub(super) async fn read_into(mut self, mut buffer: Buffer) -> Result<Bytes, Problem> {
        while let Some(piece) = self.next().await? {
            if !buffer.push(&piece)? {
                return Err(too_large(self.max_bytes, &self.advice));
            }
        }
        Ok(buffer.into_bytes())
    }
}

/// The problem of a body that is larger than its limit.
fn too_large(max_bytes: usize, advice: &str) -> Problem {
    let detail = format!("The body is larger than the limit of {max_bytes} bytes. {advice}");
    let detail = detail.trim_end().to_owned();
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
    use std::{
        convert::Infallible,
        task::{Context, Poll},
    };

    use futures::StreamExt as _;
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
        let arriving =
            ArrivingBody::new(&HeaderMap::new(), body, max_bytes, String::new(), &plenty()).unwrap();
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
        assert!(ArrivingBody::new(&announced("10"), Body::empty(), 10, String::new(), &plenty()).is_ok());
        for more in ["11", "18446744073709551615"] {
            assert!(
                ArrivingBody::new(&announced(more), Body::empty(), 10, String::new(), &plenty()).is_err()
            );
        }
    }

    #[tokio::test]
    async fn a_body_with_a_content_coding_is_refused() {
        let of = |coding: &str| {
            let headers = HeaderMap::from_iter([(header::CONTENT_ENCODING, coding.parse().unwrap())]);
            ArrivingBody::new(&headers, Body::empty(), 10, String::new(), &plenty())
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

    /// A body of pieces of `n_bytes` bytes, one every 10 s.
    fn slow(n_bytes: usize) -> impl futures::Stream<Item = Result<Vec<u8>, Infallible>> {
        futures::stream::iter(0..500).then(move |_| async move {
            tokio::time::sleep(Duration::from_secs(10)).await;
            Ok(vec![7; n_bytes])
        })
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_body_arrives_whole_and_one_that_hardly_moves_does_not() {
        assert_eq!(whole(Body::from_stream(slow(21_000)), 11_000_000).await, Ok(10_500_000));
        let large = futures::stream::iter([Ok(vec![7; 10_000_000])]);
        for hardly_moving in [Body::from_stream(slow(1000)), Body::from_stream(large.chain(slow(1000)))] {
            let started = Instant::now();
            assert_eq!(whole(hardly_moving, 11_000_000).await, Err(ProblemType::BodyTimeout));
            assert!(started.elapsed() < 2 * SLOW_LIMIT);
        }
    }
}
