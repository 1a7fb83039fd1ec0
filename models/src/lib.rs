//! Models: manifests and files come in; checked, loaded models that answer batches come out.

mod classifier;
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pixel arithmetic: sides and counts are far below 2^24, coverage is 0 to 1"
)]
pub mod ink;
mod manifest;
mod ort;

pub use classifier::{Classifier, LoadError, Score};
pub use manifest::{Layout, Manifest, ManifestError, ModelFile, load_all};
pub use ort::{Runtime, RuntimeError};
