//! Groups tokens into words with their times.

use unicode_normalization::char::is_combining_mark;

use super::{
    clock::{Clock, seconds},
    evidence::Evidence,
    transcript::{Token, WORD},
};
use crate::text::folded;

/// A word, or a segment: words that are spoken together, with a space between two.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedText {
    /// The text, in NFC.
    pub text: String,
    /// The beginning, seconds from the recording's start.
    pub start: f64,
    /// The end, seconds.
    pub end: f64,
    /// Why the text should be right; empty where the model does not say.
    pub evidence: Evidence,
}

/// Groups tokens into words. A token with [`WORD`] begins a new word, except one that begins with a combining
/// mark: it cannot begin a word, so it belongs to the word before.
pub(crate) fn words(tokens: &[Token], clock: Clock) -> Vec<TimedText> {
    words_and_origins(tokens, clock).0
}

/// Groups the first `n` tokens into words, and takes all but the last of these words out of the tokens: what follows can
/// continue the last one.
pub(crate) fn take_words(tokens: &mut Vec<Token>, n: usize, clock: Clock) -> Vec<TimedText> {
    let (mut words, origins) = words_and_origins(&tokens[..n], clock);
    words.pop();
    tokens.drain(..origins.last().copied().unwrap_or_default());
    words
}

/// The words, and for each of them the index of its first token, the spaces before it included.
fn words_and_origins(tokens: &[Token], clock: Clock) -> (Vec<TimedText>, Vec<usize>) {
    let seconds = |frame: usize| seconds(frame * clock.grid);
    let mut words: Vec<TimedText> = Vec::new();
    let mut origins = Vec::new();
    let mut begins = true;
    // The evidence for the spaces before the next letter, and the first of these spaces.
    let mut spaces = Evidence::default();
    let mut first_space = None;
    for (index, token) in tokens.iter().enumerate() {
        let text = token.text.trim_start_matches(WORD);
        begins |= token.text.starts_with(WORD);
        let Some(first) = text.chars().next() else {
            spaces += token.evidence;
            first_space = first_space.or(Some(index));
            continue;
        };
        let mut evidence = std::mem::take(&mut spaces);
        let origin = first_space.take().unwrap_or(index);
        evidence += token.evidence;
        match words.last_mut() {
            Some(word) if !begins || is_combining_mark(first) => {
                word.text.push_str(text);
                word.end = seconds(token.end);
                word.evidence += evidence;
            }
            last => {
                let start = (seconds(token.frame) - clock.latency_s).max(0.0);
                if let Some(last) = last {
                    last.end = last.end.min(start).max(last.start);
                }
                words.push(TimedText { text: text.to_owned(), start, end: seconds(token.end), evidence });
                origins.push(origin);
            }
        }
        begins = false;
    }
    for word in &mut words {
        word.text = folded(&word.text);
    }
    (words, origins)
}

/// The texts of all words, with a space between two.
pub fn text(words: &[TimedText]) -> String {
    let texts: Vec<&str> = words.iter().map(|w| w.text.as_str()).collect();
    texts.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::speech::words::segments;

    #[test]
    fn tokens_become_words_in_nfc() {
        let token = |text: &str, frame| Token::new(text, frame, frame + 1);
        let tokens = [
            token("▁", 1),
            token("ਸ", 2),
            token("\u{0A3C}", 3),
            token("▁", 4),
            token("ਾ", 5),
            token("▁ਕ", 7),
            token("▁", 8),
        ];
        let words = words(&tokens, Clock { grid: 1280, latency_s: 0.06 });
        let texts: Vec<&str> = words.iter().map(|w| w.text.as_str()).collect();
        assert_eq!(texts, ["ਸ\u{0A3C}ਾ", "ਕ"], "a combining mark does not begin a word");
        assert!((words[0].start - 0.1).abs() < 1e-9 && (words[0].end - 0.48).abs() < 1e-9);
        assert!((words[1].start - 0.5).abs() < 1e-9);
    }

    #[test]
    fn words_and_segments_have_the_evidence_of_their_tokens_and_of_the_space_before() {
        let token = |text: &str, frame, evidence| Token { evidence, ..Token::new(text, frame, frame + 1) };
        let [a, b, space] = [Evidence::letter(0.9, -1.0), Evidence::letter(0.7, -2.0), Evidence::space(-3.0)];
        let tokens = [token("ਕ", 0, a), token("ਾ", 1, b), token("▁", 2, space), token("ਖ", 3, b)];
        let words = words(&tokens, Clock { grid: 320, latency_s: 0.0 });
        let sum = |parts: &[Evidence]| parts.iter().copied().sum::<Evidence>();
        assert_eq!(words[0].evidence, sum(&[a, b]));
        assert_eq!(words[1].evidence, sum(&[space, b]));
        assert_eq!(segments(&words, 1.0)[0].evidence, sum(&[sum(&[a, b]), sum(&[space, b])]));
    }
}
