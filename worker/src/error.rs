//! Why a worker does not start.

use akhar_inference::{LoadError, ManifestError, RegistryError, RuntimeError};

/// Why a worker did not start.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// A manifest.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// ONNX Runtime.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A model that does not load.
    #[error(transparent)]
    Model(#[from] LoadError),
    /// No model serves an operation, or it is not known which.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The models are larger than the memory that is left.
    #[error(
        "the models take {needed} bytes, {available} are available: use smaller ones (`akhar models use`)"
    )]
    Memory {
        /// Their files' size, bytes.
        needed: u64,
        /// What Linux can give, bytes.
        available: u64,
    },
    /// An engine's thread could not be started.
    #[error("engine thread: {0}")]
    Thread(std::io::Error),
    /// The database.
    #[error("database: {0}")]
    Database(#[from] sqlx::Error),
}
