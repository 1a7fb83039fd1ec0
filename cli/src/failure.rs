//! Why a command failed, in words for the person who typed it.

use akhar_platform::{config::ConfigError, database::PrivateError, telemetry::TelemetryError};

/// Ends the process with exit code 1.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Telemetry(#[from] TelemetryError),
    #[error("async runtime: {0}")]
    Runtime(std::io::Error),
    #[error("private Postgres: {0}")]
    Private(#[from] PrivateError),
    #[error("AKHAR_DATABASE_URL: {0}")]
    Url(sqlx::Error),
    #[error("database: {0}")]
    Database(#[from] sqlx::Error),
    #[error("AKHAR_DATABASE_URL is not set: only `akhar serve` and `akhar keys` can do without it")]
    NoDatabase,
    #[error(transparent)]
    Migrate(#[from] akhar_migrations::MigrateError),
    #[error(transparent)]
    Worker(#[from] akhar_worker::WorkerError),
    #[error(transparent)]
    Api(#[from] akhar_api::ServeError),
    #[error(transparent)]
    Key(#[from] akhar_accounts::KeyError),
    #[error(transparent)]
    Manifest(#[from] akhar_inference::ManifestError),
    #[error("cannot listen on {address}: {source}")]
    Listen { address: std::net::SocketAddr, source: std::io::Error },
    #[error("the worker did not start: see its lines above")]
    WorkerStart,
    #[error("{what}: {source}")]
    Io { what: String, source: std::io::Error },
}

impl Failure {
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(std::io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
