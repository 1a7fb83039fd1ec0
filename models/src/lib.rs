//! Models: manifests and files come in; checked, loaded models that answer batches come out.

mod classifier;
pub mod handwriting;
pub mod ink;
mod manifest;
mod ort;
pub mod speech;

pub use classifier::{Classifier, LoadError, Score};
pub use manifest::{Decoding, Layout, Manifest, ManifestError, ModelFile, load_all};
pub use ort::{Runtime, RuntimeError};
