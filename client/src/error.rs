//! Why a request failed, and whether the same request may succeed later.

use crate::ProblemBody;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server answered with an error document.
    #[error("{}: {}", .problem.title, .problem.detail)]
    Problem {
        /// The error document.
        problem: Box<ProblemBody>,
        /// Seconds after which the same request may succeed, if the server sent `Retry-After`.
        retry_after_s: Option<u64>,
    },
    /// The server cannot be reached, the connection broke, or the response is an error without an error document.
    #[error("{error}")]
    Http {
        /// What the connection or the status of the response says.
        error: reqwest::Error,
        /// Seconds after which the same request may succeed, if the server, or a proxy before it, sent `Retry-After`.
        retry_after_s: Option<u64>,
    },
    /// The response is not the JSON document that was expected.
    #[error("the response is not the expected JSON document: {0}")]
    Json(#[from] serde_json::Error),
    /// The response has more bytes than any answer of the service.
    #[error("the response has more than {max_bytes} bytes, so it is not an answer of Akhar")]
    TooLarge {
        /// The most bytes.
        max_bytes: usize,
    },
}

impl From<reqwest::Error> for ClientError {
    fn from(error: reqwest::Error) -> Self {
        Self::Http { error, retry_after_s: None }
    }
}

impl ClientError {
    /// The HTTP status of the response. `None` if there was no complete response.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Problem { problem, .. } => Some(problem.status),
            Self::Http { error, .. } => error.status().map(|status| status.as_u16()),
            Self::Json(_) | Self::TooLarge { .. } => None,
        }
    }

    /// Seconds after which the same request may succeed, if the response says so.
    pub fn retry_after_s(&self) -> Option<u64> {
        match self {
            Self::Problem { retry_after_s, .. } | Self::Http { retry_after_s, .. } => *retry_after_s,
            Self::Json(_) | Self::TooLarge { .. } => None,
        }
    }

    /// Whether the same request may succeed later: the connection broke or timed out, or the status is 408, 429 or 5xx
    /// (except 501 and 505, which say that the server never supports the request).
    pub fn may_pass(&self) -> bool {
        match (self, self.status()) {
            (_, Some(status)) => matches!(status, 408 | 429 | 500 | 502..=504 | 506..=599),
            (Self::Http { error, .. }, None) => !error.is_builder() && !error.is_redirect(),
            (Self::Problem { .. } | Self::Json(_) | Self::TooLarge { .. }, None) => false,
        }
    }
}
