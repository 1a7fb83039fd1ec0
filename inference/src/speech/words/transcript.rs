//! A window's transcript: its tokens with their output frames.

use super::evidence::Evidence;

/// The character at the beginning of a unit that begins a word.
pub(crate) const WORD: char = '▁';

/// The result of recognising one window.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// The tokens in the order of time.
    pub(crate) tokens: Vec<Token>,
    /// For each output frame, whether the blank is its likeliest unit.
    pub(crate) blanks: Vec<bool>,
}

impl Transcript {
    /// The evidence for all of its tokens.
    pub fn evidence(&self) -> Evidence {
        self.tokens.iter().map(|token| token.evidence).sum()
    }
}

/// One unit of text with its time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    /// The text of the unit, with `▁` where a word begins.
    pub(crate) text: String,
    /// The first output frame.
    pub(crate) frame: usize,
    /// One past the last output frame.
    pub(crate) end: usize,
    /// Why the text should be right; empty where the model does not say.
    pub(crate) evidence: Evidence,
}

impl Token {
    /// A token without evidence.
    pub(crate) fn new(text: impl Into<String>, frame: usize, end: usize) -> Self {
        Self { text: text.into(), frame, end, evidence: Evidence::default() }
    }

    /// Whether the token is only a space.
    pub(crate) fn is_space(&self) -> bool {
        self.text.chars().all(|c| c == WORD)
    }
}
