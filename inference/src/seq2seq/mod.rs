//! Sequence to sequence: an encoder's memory and a decoder's steps, in the layout Optimum exports; texts come
//! in, in batches, texts in another language come out.

mod network;
mod search;
mod tokens;
mod translator;

#[cfg(test)]
mod golden_tests;

pub(crate) use network::{Decoding, Network};
pub(crate) use tokens::Tokens;
pub use translator::{TranslationError, Translator};
