//! Divides a window's tokens into segments at its timestamp tokens.

use super::rules::Rules;

/// Tokens of text with their time in the window, in steps of 20 ms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TimedTokens {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) tokens: Vec<i64>,
}

/// The number of steps in a window.
const WINDOW: usize = 1500;

/// Divides tokens at timestamp tokens. A segment without an end lasts to the end of the window.
pub(super) fn segments(tokens: &[i64], rules: &Rules) -> Vec<TimedTokens> {
    let mut segments = Vec::new();
    let mut open = TimedTokens { start: 0, end: WINDOW, tokens: Vec::new() };
    for &token in tokens.iter().filter(|t| **t != rules.eos_token) {
        match rules.time(token) {
            None => open.tokens.push(token),
            Some(time) => {
                if !open.tokens.is_empty() {
                    segments.push(TimedTokens { end: time.max(open.start), ..open });
                }
                open = TimedTokens { start: time, end: WINDOW, tokens: Vec::new() };
            }
        }
    }
    if !open.tokens.is_empty() {
        segments.push(open);
    }
    segments
}
