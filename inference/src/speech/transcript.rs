//! A window's transcript: tokens, each with its output frames.

use super::units::WORD;

/// What a model recognises in a window.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// Tokens in order.
    pub(crate) tokens: Vec<Token>,
    /// For each output frame, whether the blank is its likeliest unit.
    pub(crate) blanks: Vec<bool>,
}

/// One unit of text and when it is said.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    /// Its text, with `▁` where a word begins.
    pub(crate) text: String,
    /// Its first output frame.
    pub(crate) frame: usize,
    /// One past its last.
    pub(crate) end: usize,
}

impl Token {
    /// Whether it has no text of its own.
    pub(crate) fn is_space(&self) -> bool {
        self.text.chars().all(|c| c == WORD)
    }
}
