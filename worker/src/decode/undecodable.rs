//! The error of an upload that cannot be decoded, in words for its caller.

use akhar_requests::Outcome;

/// Why an upload cannot be decoded.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{detail}")]
pub struct Undecodable {
    /// A code that never changes, as in the errors of the HTTP interface.
    pub code: &'static str,
    /// What is wrong with the file.
    pub detail: String,
}

impl Undecodable {
    pub(crate) fn new(code: &'static str, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }
}

impl From<Undecodable> for Outcome {
    fn from(e: Undecodable) -> Self {
        Self::rejected("file", e.code, e.detail)
    }
}
