//! Why there is no transcript: an answer of the server, an error of a file or of a decoder comes in; whether it is of the recording
//! alone or ends the run goes out.

use std::{
    io::{self, ErrorKind},
    path::PathBuf,
};

use akhar_client::ProblemBody;
use akhar_worker::Undecodable;

use super::source::is_of_decoder;
use crate::failure::Failure;

/// Why there is no transcript.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The recording has no result.
    Recording { code: String, reason: String },
    /// The run cannot go on.
    Run(Failure),
}

impl Trouble {
    /// Whether another decoder may read the recording.
    pub(super) fn is_of_decoder(&self) -> bool {
        matches!(self, Self::Recording { code, .. } if is_of_decoder(code))
    }

    /// This trouble if it ends the run, and otherwise another one.
    pub(super) fn unless_of_recording(self, other: Self) -> Self {
        if matches!(self, Self::Recording { .. }) { other } else { self }
    }

    /// The reason in an error document.
    pub(super) fn refused(problem: &ProblemBody) -> Self {
        let details: Vec<&str> = problem.errors.iter().map(|violation| violation.detail.as_str()).collect();
        let code = problem.errors.first().map_or(problem.slug(), |violation| &violation.code).to_owned();
        let reason = if details.is_empty() { problem.detail.clone() } else { details.join("; ") };
        Self::Recording { code, reason }
    }

    /// What it means that a result cannot be written: for the recording, or for the whole run if others could not be written
    /// either.
    pub(super) fn unwritten((path, error): (PathBuf, io::Error)) -> Self {
        let what = format!("cannot write {}", path.display());
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::ReadOnlyFilesystem => {
                Self::Run(Failure::io(what)(error))
            }
            _ => Self::Recording { code: "unwritable".to_owned(), reason: format!("{what}: {error}") },
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is used in map_err")]
    pub(super) fn unreadable(error: io::Error) -> Self {
        Self::Recording { code: "unreadable".to_owned(), reason: format!("the file cannot be read: {error}") }
    }
}

impl From<Undecodable> for Trouble {
    fn from(Undecodable { code, detail }: Undecodable) -> Self {
        Self::Recording { code: code.to_owned(), reason: detail }
    }
}
