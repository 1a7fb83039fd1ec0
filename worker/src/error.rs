//! The error of a worker that cannot start or go on.

use akhar_inference::{LoadError, ManifestError, RegistryError, RuntimeError};
use akhar_platform::metrics::MetricsError;

/// The reason why a worker could not start, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    /// A manifest cannot be read or is invalid.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// ONNX Runtime cannot be loaded.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A model cannot be loaded.
    #[error(transparent)]
    Model(#[from] LoadError),
    /// No installed model serves an operation, or several do and none is chosen.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The models are larger than the memory that is available.
    #[error(
        "the models need {needed} bytes of memory, but only {available} bytes are available: \
         choose smaller models with `akhar models use`, or free some memory"
    )]
    Memory {
        /// Total size of the models' files, bytes.
        needed: u64,
        /// Memory that Linux can give without swapping, bytes.
        available: u64,
    },
    /// The operating system did not start a thread for a model.
    #[error("cannot start the thread that runs a model: {0}")]
    Thread(std::io::Error),
    /// A model does not answer any more, or a thread that decodes a recording does not go on.
    #[error(
        "a model or a decoder does not answer any more: its line in the log names it; start the worker again"
    )]
    Stuck,
    /// The address for metrics cannot be used.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    /// The first heartbeat could not be written to the database.
    #[error("cannot write the worker's first heartbeat to the database: {0}")]
    Database(#[from] sqlx::Error),
}
