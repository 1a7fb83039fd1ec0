//! Reads a request's body within limits of size and time.

use std::{borrow::Cow, pin::Pin, time::Duration};

use axum::{
    body::{Body, Bytes, HttpBody as _},
    http::{HeaderMap, header},
};
use tokio::time::{Instant, timeout_at};

use crate::problems::{Problem, ProblemType};

/// How long the client may send no data.
const STALL_LIMIT: Duration = Duration::from_secs(30);
/// How long a whole body may take.
const BODY_LIMIT: Duration = Duration::from_secs(120);

/// The limits of one body.
#[derive(Debug, Clone, Copy)]
pub(super) struct BodyLimits {
    deadline: Instant,
    /// The most bytes that the body may have.
    pub(super) max_bytes: usize,
}

impl BodyLimits {
    /// The limits of a body that begins to arrive now. Fails if its Content-Length is larger than `max_bytes`, or if it
    /// has a content coding such as gzip.
    pub(super) fn new(headers: &HeaderMap, max_bytes: usize) -> Result<Self, Problem> {
        refuse_codings(headers)?;
        let announced =
            headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()?.parse::<u64>().ok());
        let limits = Self { deadline: Instant::now() + BODY_LIMIT, max_bytes };
        if announced.is_some_and(|n| n > max_bytes as u64) { Err(limits.too_large()) } else { Ok(limits) }
    }

    /// Waits for `frame` within the limits of time.
    pub(super) async fn in_time<T>(self, frame: impl Future<Output = T>) -> Result<T, Problem> {
        let deadline = self.deadline.min(Instant::now() + STALL_LIMIT);
        timeout_at(deadline, frame).await.map_err(|_| Problem::of(ProblemType::BodyTimeout))
    }

    /// Reads the whole body.
    pub(super) async fn read_all(self, mut body: Body) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::new();
        while let Some(frame) =
            self.in_time(std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx))).await?
        {
            let frame = frame.map_err(|error| {
                tracing::debug!(%error, "cannot read the body");
                malformed("The connection failed before the whole body had arrived. Send the request again.")
            })?;
            let data = frame.into_data().unwrap_or_else(|_trailers| Bytes::new());
            if bytes.len() + data.len() > self.max_bytes {
                return Err(self.too_large());
            }
            bytes.extend_from_slice(&data);
        }
        Ok(bytes)
    }

    /// The problem of a body that is larger than its limit.
    pub(super) fn too_large(self) -> Problem {
        let detail = format!("The body is larger than the limit of {} bytes.", self.max_bytes);
        Problem::of(ProblemType::TooLarge).with_detail(detail)
    }
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

    use http_body::Frame;

    use super::*;

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

    async fn whole(body: impl Into<Body>) -> Result<Vec<u8>, ProblemType> {
        let limits = BodyLimits::new(&HeaderMap::new(), 10).unwrap();
        limits.read_all(body.into()).await.map_err(|p| p.problem_type())
    }

    #[tokio::test]
    async fn a_body_may_be_as_large_as_the_limit_but_no_larger() {
        assert_eq!(whole(vec![7; 10]).await, Ok(vec![7; 10]));
        assert_eq!(whole(vec![7; 11]).await, Err(ProblemType::TooLarge));
        let endless = stalling(|| Some("abcd")); // refused while it arrives
        assert_eq!(whole(endless).await, Err(ProblemType::TooLarge));
        let announced = |n: &str| HeaderMap::from_iter([(header::CONTENT_LENGTH, n.parse().unwrap())]);
        assert!(BodyLimits::new(&announced("10"), 10).is_ok());
        assert!(BodyLimits::new(&announced("11"), 10).is_err());
    }

    #[test]
    fn a_body_with_a_content_coding_is_refused() {
        let of = |coding: &str| HeaderMap::from_iter([(header::CONTENT_ENCODING, coding.parse().unwrap())]);
        assert!(BodyLimits::new(&of("Identity"), 10).is_ok());
        for coding in ["gzip", "identity, br"] {
            let problem = BodyLimits::new(&of(coding), 10).unwrap_err();
            assert_eq!(problem.problem_type(), ProblemType::UnsupportedContentType, "{coding}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_stalls_times_out() {
        let started = Instant::now();
        let mut chunks = vec!["a", "b"];
        assert_eq!(whole(stalling(move || chunks.pop())).await, Err(ProblemType::BodyTimeout));
        assert_eq!(started.elapsed(), STALL_LIMIT);
    }
}
