//! A window's transcript: its tokens with their output frames.

use super::units::WORD;

/// The result of recognising one window.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// The tokens in the order of time.
    pub(crate) tokens: Vec<Token>,
    /// For each output frame, whether the blank is its likeliest unit.
    pub(crate) blanks: Vec<bool>,
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
}

impl Token {
    /// Whether the token is only a space.
    pub(crate) fn is_space(&self) -> bool {
        self.text.chars().all(|c| c == WORD)
    }
}
