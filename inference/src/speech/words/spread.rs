//! Times for words that have none of their own: a text and the frames it is said in come in; its words come out,
//! each with the share of the frames that its letters take.

use std::ops::Range;

use super::transcript::{Token, WORD};

/// A token a word.
pub(crate) fn spread(text: &str, frames: Range<usize>) -> Vec<Token> {
    let letters = |word: &str| word.chars().count();
    let n_letters = text.split_whitespace().map(letters).sum::<usize>().max(1);
    let at = |n: usize| frames.start + frames.len() * n / n_letters;
    let mut before = 0;
    let token = |word: &str| {
        let after = before + letters(word);
        let frame = at(before);
        let end = at(after).max(frame + 1);
        before = after;
        Token::new(format!("{WORD}{word}"), frame, end)
    };
    text.split_whitespace().map(token).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_share_the_frames_by_their_letters() {
        let spans = |text: &str| -> Vec<Range<usize>> {
            spread(text, 10..20).iter().map(|t| t.frame..t.end).collect()
        };
        assert_eq!(spans("abc ab"), [10..16, 16..20]);
        assert_eq!(spans(" a  b "), [10..15, 15..20]);
        assert!(spans("").is_empty());
        assert_eq!(spread("ਕ", 3..3), [Token::new("▁ਕ", 3, 4)]);
    }
}
