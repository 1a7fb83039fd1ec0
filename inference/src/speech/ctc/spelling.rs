//! Alignment of a text that another model wrote: a CTC model's frames and the text come in; its words with their frames
//! come out.
//!
//! The likeliest path through the frames that spells the text says when each word is said. A stretch that the units
//! cannot spell, such as digits, is one wildcard: see [`with_wildcard`].

use std::{collections::HashMap, ops::Range};

use super::{
    align::{align, highest},
    numbers::Lexicon,
    spot::loss,
    units::Units,
};
use crate::speech::words::{Evidence, Token, WORD, spread};

/// The wildcard's log-probability in a frame where the blank is certain: below the blank's own, so that silence
/// beside a wildcard does not belong to it.
const WILDCARD_BLANK: f32 = -0.5;

/// The least log-probability of a letter that counts as evidence, so that one letter does not outweigh a sentence.
const LEAST_LOG_PROB: f64 = -10.0;

/// A term with a higher loss is not said, nats for each letter: see [`loss`].
const MAX_TERM_LOSS: f32 = 2.5;

/// How a text is spelt in a model's units: the unit of each letter.
pub(crate) struct Spelling {
    letters: HashMap<char, u8>,
    space: u8,
    wildcard: u8,
    pub(super) numbers: Lexicon,
}

impl Spelling {
    /// The spelling in a model's units. `None` if they are not a space, letters and, last, the blank.
    pub(crate) fn of(units: &Units) -> Option<Self> {
        let wildcard =
            u8::try_from(units.blank()).ok().filter(|n| units.blank() + 1 == units.len() && *n < 255)?;
        let mut letters = HashMap::new();
        let mut space = None;
        for unit in 0..wildcard {
            let mut text = units.text(usize::from(unit)).chars();
            match (text.next(), text.next()) {
                (Some(WORD), None) => space = Some(unit),
                (Some(letter), None) => drop(letters.insert(letter, unit)),
                _ => (),
            }
        }
        let space = space?;
        let numbers = Lexicon::new(|letter| letters.get(&letter).copied(), space);
        Some(Self { letters, space, wildcard, numbers })
    }

    /// A text's units, and of each of its words the text and the range of its units, which is empty where
    /// nothing of it is spoken.
    pub(super) fn spell<'a>(&self, text: &'a str) -> (Vec<u8>, Vec<(&'a str, Range<usize>)>) {
        let mut units = Vec::new();
        let mut words = Vec::new();
        for word in text.split_whitespace() {
            let spelt = self.spell_word(word);
            if !spelt.is_empty() && !units.is_empty() {
                units.push(self.space);
            }
            let start = units.len();
            units.extend(spelt);
            words.push((word, start..units.len()));
        }
        (units, words)
    }

    fn spell_word(&self, word: &str) -> Vec<u8> {
        let spoken = word.trim_matches(|c: char| !c.is_alphanumeric());
        let mut units: Vec<u8> = Vec::new();
        for letter in spoken.chars().flat_map(char::to_lowercase) {
            let letter = if letter == '’' { '\'' } else { letter };
            let unit = match self.letters.get(&letter) {
                Some(unit) => *unit,
                None if letter.is_alphanumeric() => self.wildcard,
                // Two words in one, such as `forty-nine`.
                None => self.space,
            };
            let again = [self.space, self.wildcard].contains(&unit) && units.last() == Some(&unit);
            if !again {
                units.push(unit);
            }
        }
        units
    }

    /// A text's tokens, a word each, with the frames in which they are said and the evidence for them. `log_prob` is the
    /// mean log-probability of the text by the model that wrote it.
    pub(crate) fn tokens<'a>(
        &self,
        frames: impl Iterator<Item = &'a [f32]>,
        text: &str,
        log_prob: f64,
    ) -> Vec<Token> {
        let frames: Vec<Vec<f32>> = frames.map(with_wildcard).collect();
        let frames: Vec<&[f32]> = frames.iter().map(Vec::as_slice).collect();
        let (units, words) = self.spell(text);
        let Some(spans) = align(&frames, &units) else {
            // A text with more letters than there are frames is not what is said.
            let least = Evidence::letter(LEAST_LOG_PROB, log_prob);
            let tokens = spread(text, 0..frames.len()).into_iter();
            return tokens.map(|token| Token { evidence: least, ..token }).collect();
        };
        let token = |(token, (_, of_word)): (Token, &(&str, Range<usize>))| {
            let spelt = units[of_word.clone()].iter().copied().zip(spans[of_word.clone()].iter().cloned());
            Token { evidence: self.evidence(&frames, spelt, log_prob), ..token }
        };
        timed(&words, &spans).into_iter().zip(&words).map(token).collect()
    }

    /// Whether a unit is the space or the blank.
    pub(super) fn is_silence(&self, unit: usize) -> bool {
        [self.space, self.wildcard].map(usize::from).contains(&unit)
    }

    /// Whether a term may be said in frames. Of a term with what the units cannot spell, nobody knows.
    pub(crate) fn may_be_said(&self, frames: &[&[f32]], term: &str) -> bool {
        let (units, _) = self.spell(term);
        units.contains(&self.wildcard) || loss(frames, &units) <= MAX_TERM_LOSS
    }

    /// The evidence for a word's units, each with its frames. Only letters have any: a wildcard is as likely as
    /// whatever is said.
    pub(super) fn evidence(
        &self,
        frames: &[&[f32]],
        units: impl Iterator<Item = (u8, Range<usize>)>,
        log_prob: f64,
    ) -> Evidence {
        let letters = units.filter(|(unit, _)| ![self.space, self.wildcard].contains(unit));
        let of_letter = |(unit, span): (u8, Range<usize>)| {
            Evidence::letter(f64::from(highest(frames, span, unit)).max(LEAST_LOG_PROB), log_prob)
        };
        letters.map(of_letter).sum()
    }
}

/// A frame's log-probabilities with the wildcard's before the blank's: as likely as the likeliest unit, whichever
/// that is, and a little less likely than the blank.
fn with_wildcard(frame: &[f32]) -> Vec<f32> {
    let (blank, units) =
        frame.split_last().map_or((f32::NEG_INFINITY, frame), |(blank, units)| (*blank, units));
    let likeliest = units.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let wildcard = likeliest.max(blank + WILDCARD_BLANK);
    units.iter().copied().chain([wildcard, blank]).collect()
}

/// A token a word, of its units' frames. A word of which nothing is spoken stands at the end of the one before.
fn timed(words: &[(&str, Range<usize>)], spans: &[Range<usize>]) -> Vec<Token> {
    let mut end = 0;
    let token = |(word, units): &(&str, Range<usize>)| {
        let spans = spans.get(units.clone()).unwrap_or_default();
        let frame = spans.first().map_or(end, |span| span.start);
        end = spans.last().map_or(end, |span| span.end);
        Token::new(format!("{WORD}{word}"), frame, end)
    };
    words.iter().map(token).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ▁, a, b, the apostrophe; the wildcard is 4.
    fn spelling() -> Spelling {
        let letters = HashMap::from([('a', 1), ('b', 2), ('\'', 3)]);
        Spelling { letters, space: 0, wildcard: 4, numbers: Lexicon::new(|_| None, 0) }
    }

    #[test]
    fn what_is_written_is_spelt_as_it_is_said() {
        let spell = |text: &str| spelling().spell(text).0;
        assert_eq!(spell("Ab, b!"), [1, 2, 0, 2]);
        assert_eq!(spell("\"A’b\" 'a'"), [1, 3, 2, 0, 1]);
        assert_eq!(spell("a-b - b"), [1, 0, 2, 0, 2]);
        assert_eq!(spell("1850 ab7é"), [4, 0, 1, 2, 4]);
        assert_eq!(spell("♪ …"), [0; 0]);
        let (_, words) = spelling().spell("a – b");
        assert_eq!(words, [("a", 0..1), ("–", 1..1), ("b", 2..3)]);
    }

    /// Log-probabilities of frames in which one unit each is nearly certain; 4 is the blank.
    fn frames(likeliest: &[usize]) -> Vec<Vec<f32>> {
        let frame = |unit: &usize| {
            let mut frame = vec![-6.0; 5];
            frame[*unit] = -0.01;
            frame
        };
        likeliest.iter().map(frame).collect()
    }

    fn aligned(likeliest: &[usize], text: &str) -> Vec<(String, Range<usize>)> {
        let (units, words) = spelling().spell(text);
        let frames: Vec<Vec<f32>> = frames(likeliest).iter().map(|frame| with_wildcard(frame)).collect();
        let frames: Vec<&[f32]> = frames.iter().map(Vec::as_slice).collect();
        let tokens = timed(&words, &align(&frames, &units).unwrap());
        tokens.into_iter().map(|t| (t.text, t.frame..t.end)).collect()
    }

    #[test]
    fn a_wildcard_takes_what_is_said_and_not_the_silence_beside_it() {
        let spoken = [4, 1, 0, 4, 4, 4, 2, 4, 1, 2, 4, 4, 4, 0, 2, 4];
        let expected = [("▁a", 1..2), ("▁77", 6..10), ("▁b", 14..15)].map(|(t, r)| (t.to_owned(), r));
        assert_eq!(aligned(&spoken, "a 77 b"), expected);
    }

    #[test]
    fn letters_have_the_evidence_of_their_frames_and_wildcards_have_none() {
        let mut frames = frames(&[1, 1, 4, 2]);
        frames[1][1] = -0.5;
        frames[3][2] = -30.0;
        let frames: Vec<Vec<f32>> = frames.iter().map(|frame| with_wildcard(frame)).collect();
        let frames: Vec<&[f32]> = frames.iter().map(Vec::as_slice).collect();
        let evidence =
            |units: &[(u8, Range<usize>)]| spelling().evidence(&frames, units.iter().cloned(), -0.25);
        let near = |found: Evidence, acoustic: f64| {
            let (a, language) = found.means().unwrap();
            assert!((a - acoustic).abs() < 1e-6 && (language + 0.25).abs() < 1e-9, "{found:?}");
        };
        near(evidence(&[(1, 0..2)]), -0.01);
        near(evidence(&[(1, 0..2), (0, 2..3), (2, 3..4)]), f64::midpoint(-0.01, LEAST_LOG_PROB));
        near(evidence(&[(1, 1..2), (4, 2..4)]), -0.5);
        assert_eq!(evidence(&[(4, 0..4)]).means(), None);
    }

    #[test]
    fn a_text_that_is_longer_than_the_recording_has_the_least_evidence() {
        let frames = frames(&[1, 4]);
        let tokens = spelling().tokens(frames.iter().map(Vec::as_slice), "aba abab", -0.25);
        assert_eq!(tokens.len(), 2);
        for token in tokens {
            assert_eq!(token.evidence.means(), Some((LEAST_LOG_PROB, -0.25)), "{token:?}");
        }
    }

    #[test]
    fn what_is_not_spoken_stands_at_the_end_of_the_word_before() {
        let expected = [("▁a", 1..2), ("▁–", 2..2), ("▁b", 3..4)].map(|(t, r)| (t.to_owned(), r));
        assert_eq!(aligned(&[4, 1, 0, 2, 4], "a – b"), expected);
    }
}
