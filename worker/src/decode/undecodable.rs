//! The error of an upload that cannot be decoded, worded for its caller.

use akhar_jobs::Outcome;

/// What the caller is told about an upload that cannot be decoded.
#[derive(Debug)]
pub(crate) struct Undecodable {
    pub(super) code: &'static str,
    pub(super) detail: String,
}

impl Undecodable {
    pub(super) fn new(code: &'static str, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }

    /// The code and the detail.
    pub(crate) fn into_parts(self) -> (&'static str, String) {
        (self.code, self.detail)
    }
}

impl From<Undecodable> for Outcome {
    fn from(e: Undecodable) -> Self {
        Self::rejected("file", e.code, e.detail)
    }
}
