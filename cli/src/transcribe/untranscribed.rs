//! The files without a transcription, and the lists of them in the output folder.

use serde::{Deserialize, Serialize};

/// The list of recordings that could not be transcribed.
pub(super) const FAILURES: &str = "failures.jsonl";
/// The list of files that are no recordings, or recordings of another format.
pub(super) const SKIPPED: &str = "skipped.jsonl";

/// A file without a transcription: a line of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Untranscribed {
    pub(super) path: String,
    /// A code that never changes, such as `undecodable`.
    pub(super) code: String,
    pub(super) reason: String,
}
