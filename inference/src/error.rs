//! The error of a model that cannot be loaded.

use crate::{manifest::ManifestError, runtime::RuntimeError};

/// The reason why a model cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The manifest or a file that it names cannot be used.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// ONNX Runtime cannot load or run the model.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
}
