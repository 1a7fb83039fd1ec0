//! Why the store of uploads cannot be used.

use std::error::Error;

/// Why the store of uploads cannot be used. The text names the setting and contains no credentials.
#[derive(Debug, Clone, thiserror::Error)]
pub enum UploadStoreError {
    /// The setting has none of the forms that it may have. Holds what it is, for people.
    #[error(
        "AKHAR_UPLOAD_STORE is {0}, expected `postgres`, `file:///absolute/folder` or `s3://bucket/prefix`"
    )]
    Setting(String),
    /// The store cannot be opened, or an operation failed.
    #[error("cannot {what} {url} (AKHAR_UPLOAD_STORE): {cause}")]
    Failed {
        /// What was tried, such as "write to".
        what: &'static str,
        /// The address of the store or of the object.
        url: String,
        /// Why it failed.
        cause: String,
    },
}

/// What systems and services say when a store has no space left.
const FULL: [&str; 5] = [
    "No space left on device",
    "Disk quota exceeded",
    "File too large",
    "XMinioStorageFull",
    "QuotaExceeded",
];

impl UploadStoreError {
    /// Whether the store has no space left.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Failed { cause, .. } if FULL.iter().any(|full| cause.contains(full)))
    }
}

/// Why an upload cannot be read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum FetchError {
    /// There is no such object, or its bytes are not those that were written. Trying again does not help.
    #[error("the upload is lost: {url} {what}")]
    Lost {
        /// The address of the object.
        url: String,
        /// What is wrong with it.
        what: String,
    },
    /// The store did not answer, or with an error. It may do so later.
    #[error(transparent)]
    Unavailable(#[from] UploadStoreError),
}

/// An error with all of its sources, as a log shows it.
pub(super) fn with_sources(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let part = error.to_string();
        if !text.contains(&part) {
            text = format!("{text}: {part}");
        }
        source = error.source();
    }
    text
}
