//! Why the private Postgres does not run.

use std::{path::PathBuf, process::ExitStatus};

/// Why the private Postgres does not run.
#[derive(Debug, thiserror::Error)]
pub enum PrivateError {
    /// No server programs on this machine.
    #[error(
        "no Postgres server found (looked in /usr/lib/postgresql/*/bin and PATH): install Debian's package postgresql, or set AKHAR_DATABASE_URL"
    )]
    NoServer,
    /// We are root and there is nobody else to run as.
    #[error("Postgres does not run as root, and there is no user postgres or nobody: set AKHAR_DATABASE_URL")]
    NoUser,
    /// Another `akhar serve` uses the folder.
    #[error("another akhar uses {}: stop it, or set AKHAR_DATA_DIR", .0.display())]
    InUse(PathBuf),
    /// A program did not start.
    #[error("{program} did not start: {source}")]
    Start {
        /// Its path.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// A program failed.
    #[error("{program} ended with {status}: {said}")]
    Failed {
        /// Its path.
        program: String,
        /// How it ended.
        status: ExitStatus,
        /// What it printed.
        said: String,
    },
    /// A file or folder.
    #[error("{}: {source}", .path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}
