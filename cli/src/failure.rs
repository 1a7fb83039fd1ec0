//! The errors of all commands, as they are printed to the user.

use std::error::Error as _;

use akhar_platform::{
    config::ConfigError,
    database::{PrivateError, advice},
    telemetry::TelemetryError,
};

/// Why a command failed. The process prints it and exits with code 1, except for [`Failure::Exit`].
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Telemetry(#[from] TelemetryError),
    #[error("cannot start the async runtime: {0}")]
    Runtime(std::io::Error),
    #[error("cannot run the Postgres server of `akhar serve`: {0}")]
    Private(#[from] PrivateError),
    #[error("{setting} is not a valid address, expected postgres://user:password@host/database: {source}")]
    Url { setting: &'static str, source: sqlx::Error },
    #[error("cannot connect to the database at {address}: {source}")]
    Connect { address: String, source: sqlx::Error },
    #[error("database error: {0}")]
    Database(#[from] sqlx::Error),
    #[error(
        "AKHAR_DATABASE_URL is not set: set it to the address of a Postgres database, such as \
         postgres://user:password@host/database. Only `akhar serve` and the commands for its operators work without it"
    )]
    NoDatabase,
    #[error(
        "there is no database of `akhar serve` in {}: run this command in the folder in which `akhar serve` runs, or set \
         AKHAR_DATA_DIR to its data folder, or AKHAR_DATABASE_URL to the address of a Postgres database",
        .0.display()
    )]
    NoPrivateDatabase(std::path::PathBuf),
    #[error(transparent)]
    Migrate(#[from] akhar_migrations::MigrateError),
    #[error(transparent)]
    Schema(#[from] akhar_migrations::SchemaError),
    #[error(transparent)]
    Worker(#[from] akhar_worker::WorkerError),
    #[error(transparent)]
    Api(#[from] akhar_api::ServeError),
    #[error(transparent)]
    Uploads(#[from] akhar_jobs::uploads::UploadStoreError),
    #[error(transparent)]
    Change(#[from] akhar_operators::ChangeError),
    #[error(transparent)]
    Erase(#[from] akhar_operators::EraseError),
    #[error(transparent)]
    Key(#[from] akhar_operators::KeyError),
    #[error(transparent)]
    Manifest(#[from] akhar_inference::ManifestError),
    #[error("cannot listen on {address}: {source}")]
    Listen { address: std::net::SocketAddr, source: std::io::Error },
    #[error("standard output was closed")]
    OutputClosed,
    #[error("the worker did not start: its log lines above say why")]
    WorkerStart,
    #[error(transparent)]
    OnnxRuntime(#[from] akhar_inference::RuntimeError),
    #[error(transparent)]
    Registry(#[from] akhar_inference::RegistryError),
    #[error(transparent)]
    LoadModel(#[from] akhar_inference::LoadError),
    /// In the words of the command.
    #[error("{0}")]
    Command(String),
    /// The command has said why, and ends with this code.
    #[error("ended with code {0}")]
    Exit(u8),
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
}

impl Failure {
    /// What an operator can do about an error of the database, if the error does not say it.
    pub(crate) fn advice(&self) -> Option<&'static str> {
        let mut cause = self.source();
        while let Some(error) = cause {
            let of_private = || error.downcast_ref().and_then(PrivateError::advice);
            if let Some(advice) = error.downcast_ref().and_then(advice).or_else(of_private) {
                return Some(advice);
            }
            cause = error.source();
        }
        None
    }

    /// For processes that go on when nobody reads their output.
    pub(crate) fn unless_output_closed(self) -> Result<(), Self> {
        match self {
            Self::OutputClosed => Ok(()),
            other => Err(other),
        }
    }

    /// Makes a failure of an I/O error. `what` says what failed, such as "cannot read stdin".
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
