//! Sequence-to-sequence models in the layout that Optimum exports: texts come in, in batches; translations
//! come out.

mod network;
mod pieces;
mod search;
mod tokens;
mod translator;

#[cfg(test)]
mod golden_tests;

pub(crate) use network::{DecoderState, Network};
pub(crate) use search::{GenerationConfig, Sequence, search};
pub(crate) use tokens::Tokens;
pub use translator::{TranslationError, Translator};
