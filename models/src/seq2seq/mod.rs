//! Sequence to sequence: an encoder's memory and a decoder's steps, in the layout Optimum exports; texts come
//! in, in batches, texts in another language come out.

mod network;
mod search;
mod tokens;
mod translator;

#[cfg(test)]
mod golden_tests;

pub use translator::{TranslationError, Translator};
