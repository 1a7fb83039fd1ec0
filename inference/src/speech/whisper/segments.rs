//! Divides a window's tokens into segments at its timestamp tokens.

use super::rules::Rules;

/// Tokens of text with their time in the window, in steps of 20 ms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) tokens: Vec<i64>,
}

/// The number of steps in a window.
const WINDOW: usize = 1500;

/// Divides tokens at timestamp tokens. A segment without an end lasts to the end of the window.
pub(super) fn segments(tokens: &[i64], rules: &Rules) -> Vec<Segment> {
    let mut segments = Vec::new();
    let mut open = Segment { start: 0, end: WINDOW, tokens: Vec::new() };
    for &token in tokens.iter().filter(|t| **t != rules.eos_token) {
        match rules.time(token) {
            None => open.tokens.push(token),
            Some(time) => {
                if !open.tokens.is_empty() {
                    segments.push(Segment { end: time.max(open.start), ..open });
                }
                open = Segment { start: time, end: WINDOW, tokens: Vec::new() };
            }
        }
    }
    if !open.tokens.is_empty() {
        segments.push(open);
    }
    segments
}
