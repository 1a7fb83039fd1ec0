//! Operations: a claimed job comes in; its outcome, and how long decoding and inference took, come out.
//!
//! One file for each operation loads its models and runs its jobs; `pipeline` holds all of them.

mod by_language;
mod handwriting;
mod pipeline;
mod recognition;
mod speech;
mod timing;
pub(crate) mod translation;

pub(crate) use pipeline::Pipeline;
pub use recognition::classifier_input;
