//! Runs a claimed job and returns its outcome, with the time that decoding and inference took.
//!
//! Each operation has one file, which finds the operation's models and runs its jobs. `pipeline` holds all of
//! the operations.

mod by_language;
mod detection;
mod engines;
mod error;
mod handwriting;
mod language_engine;
mod lazy_model;
mod live;
mod pipeline;
mod preparation;
mod progress;
pub(crate) mod punctuation;
mod recognition;
mod shown;
mod speech;
mod text_translation;
mod timing;
mod translation;
mod written;

pub(crate) use error::OperationError;
pub(crate) use lazy_model::LazyModels;
pub(crate) use pipeline::Pipeline;
pub(crate) use progress::{Progress, goes_on};
pub use recognition::classifier_input;
