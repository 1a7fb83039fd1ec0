//! Why a model was not pulled, in words for the person who typed it.

use std::path::PathBuf;

use akhar_inference::{ManifestError, catalogue::CatalogueError};
use indicatif::DecimalBytes;
use reqwest::StatusCode;

#[derive(Debug, thiserror::Error)]
pub(super) enum PullError {
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    #[error("the catalogue has no such model; expected one of {0}")]
    Unknown(String),
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error("another `akhar models pull` is fetching it")]
    Busy,
    #[error("{}: {source}", .path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{}: {} are needed, {} are free", .path.display(), DecimalBytes(*.needed), DecimalBytes(*.free))]
    Full { path: PathBuf, needed: u64, free: u64 },
    #[error("{file}: its SHA-256 is {found}, {who} says {expected}; what came is thrown away")]
    Hash { file: String, found: String, expected: String, who: &'static str },
    #[error("{file}: broke off {n} times in a row: {source}; pulling again goes on from there")]
    Broken { file: String, n: u32, source: Box<HubError> },
    #[error(transparent)]
    Hub(#[from] HubError),
}

impl PullError {
    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}

/// What went wrong on the way to the hub or from it.
#[derive(Debug, thiserror::Error)]
pub(super) enum HubError {
    #[error("AKHAR_HUB is {0:?}, expected an address such as https://huggingface.co")]
    Address(String),
    #[error("TLS: {0}")]
    Tls(String),
    #[error("cannot reach the hub at {origin}: {cause}; AKHAR_HUB says which hub")]
    Unreachable { origin: String, cause: String },
    #[error("{url}: not there (404): the catalogue may be out of date")]
    NotThere { url: String },
    #[error(
        "{url}: refused ({status}){said}: a model that is not open to everybody, or is not there; accept its terms at \
         {page} and set AKHAR_HUB_TOKEN to a token that may read it{seen}"
    )]
    Refused { url: String, status: StatusCode, said: String, page: String, seen: &'static str },
    #[error("{url}: the hub answered {status}")]
    Status { url: String, status: StatusCode },
    #[error("{url}: leads {to}, expected an https address or the end of redirects")]
    Redirect { url: String, to: String },
    #[error("the answer ended early, {got} of {total} bytes came")]
    Short { got: u64, total: u64 },
    #[error("the connection broke: {0}")]
    Connection(String),
}

impl HubError {
    /// Whether the same request may well succeed in a moment. A hub that cannot be reached and never was
    /// in this run is not going to be.
    pub(super) fn passes(&self, answered: bool) -> bool {
        match self {
            Self::Unreachable { .. } => answered,
            Self::Short { .. } | Self::Connection(_) => true,
            Self::Status { status, .. } => {
                status.is_server_error() || *status == StatusCode::TOO_MANY_REQUESTS
            }
            _ => false,
        }
    }
}

/// The innermost reason, which is the one that says something.
pub(super) fn cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}
