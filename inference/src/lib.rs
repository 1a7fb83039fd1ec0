//! Models: manifests and files come in; checked, loaded models that answer batches come out.

pub mod catalogue;
mod classifier;
pub mod handwriting;
pub mod ink;
mod manifest;
mod runtime;
mod scores;
pub mod seq2seq;
mod shelf;
pub mod speech;
#[cfg(test)]
mod testing;

pub use classifier::{Classifier, LoadError, Score};
pub use manifest::{Decoding, Generation, Layout, Manifest, ManifestError, ModelFile, load_all, sha256_of};
pub use runtime::{Device, Runtime, RuntimeError};
pub use shelf::{BUNDLED, Shelf, ShelfError};
