//! Loads models from manifests and their files, and runs them on ONNX Runtime. Also prepares their input and
//! turns their output into labels, pen strokes and texts.

mod cast;
pub mod catalogue;
mod classifier;
mod error;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
mod generation;
pub mod handwriting;
pub mod ink;
mod key_terms;
mod layout;
mod manifest;
mod numbers;
pub mod punctuation;
mod registry;
mod runtime;
mod scores;
pub mod scripts;
pub mod seq2seq;
pub mod speech;
mod stream;
#[cfg(test)]
mod testing;
mod text;

pub use classifier::{Classifier, Score};
pub use error::LoadError;
pub use generation::{Alignment, Confidence, Decoding, Generation, TokenId};
pub use key_terms::KeyTerms;
pub use layout::Layout;
pub use manifest::{Manifest, ManifestError, ModelFile, load_all, sha256_of};
pub use registry::{BUNDLED, Registry, RegistryError};
pub use runtime::{ExecutionProvider, Runtime, RuntimeError};
