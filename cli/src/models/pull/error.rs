//! The errors of `akhar models pull`, as they are printed to the user.

use std::path::PathBuf;

use akhar_inference::{ManifestError, catalogue::CatalogueError};
use indicatif::DecimalBytes;
use reqwest::StatusCode;

#[derive(Debug, thiserror::Error)]
pub(super) enum PullError {
    #[error(transparent)]
    Catalogue(#[from] CatalogueError),
    #[error("the catalogue has no model with this id; expected one of {0}")]
    Unknown(String),
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    #[error("another `akhar models pull` is downloading this model: wait for it, or stop it")]
    Busy,
    #[error("cannot use {}: {source}", .path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error(
        "not enough disk space for {}: {} are needed, {} are free",
        .path.display(), DecimalBytes(*.needed), DecimalBytes(*.free)
    )]
    Full { path: PathBuf, needed: u64, free: u64 },
    #[error("{file}: its SHA-256 is {found}, but {who} says {expected}; the downloaded file was deleted")]
    Hash { file: String, found: String, expected: String, who: &'static str },
    #[error("{file}: the download failed {n} times in a row: {source}; run the command again to resume it")]
    GivenUp { file: String, n: usize, source: Box<HubError> },
    #[error(transparent)]
    Hub(#[from] HubError),
}

impl PullError {
    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}

/// Why a request to the hub failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum HubError {
    #[error("HF_ENDPOINT is {0:?}, expected an address such as https://huggingface.co")]
    Address(String),
    #[error("cannot set up TLS: {0}")]
    Tls(String),
    #[error("cannot reach the hub at {origin}: {cause}; HF_ENDPOINT sets the address of the hub")]
    Unreachable { origin: String, cause: String },
    #[error("{url}: the hub has no such file (status 404); the catalogue may be out of date")]
    NotFound { url: String },
    #[error(
        "{url}: the hub refused access ({status}){message}. The model may be restricted or may not exist. Accept its \
         terms at {page} and set HF_TOKEN to a token that may read it{token_note}"
    )]
    Refused { url: String, status: StatusCode, message: String, page: String, token_note: &'static str },
    #[error("{url}: the hub answered {status}")]
    Status { url: String, status: StatusCode },
    #[error("{url} redirects {to}, expected an https address or a file")]
    Redirect { url: String, to: String },
    #[error("the response ended after {got} of {total} bytes")]
    Short { got: u64, total: u64 },
    #[error("the connection was lost: {0}")]
    Connection(String),
}

impl HubError {
    /// Whether the same request may succeed if it is tried again shortly. A hub that cannot be reached is worth
    /// another try only if it has answered before (`answered`).
    pub(super) fn is_transient(&self, answered: bool) -> bool {
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
