//! Runs sequence-to-sequence models with the layouts that Optimum exports: the network, beam search, the
//! tokenizer, and the translator of texts.

mod constraints;
mod indictrans;
mod lexicon;
mod network;
mod pieces;
mod placeholders;
mod repetition;
mod reverse;
mod search;
mod sentences;
mod spelling;
mod stream;
mod term_bias;
mod tokens;
mod translator;
mod words;

#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod placeholder_tests;

pub(crate) use network::{DecoderState, Network};
pub(crate) use repetition::is_loop;
pub(crate) use search::{GenerationConfig, Sequence, search};
pub use sentences::sentences;
pub use stream::stream;
pub(crate) use term_bias::{TermBias, TokenTexts};
pub(crate) use tokens::Tokens;
pub use translator::{Translation, Translator};
