//! Takes repetition out of a translation: a network that is unsure may say the same words, or the same letters of a word,
//! again and again.

use std::ops::Range;

use crate::{numbers, text::continues_a_word};

/// The number of words of the longest unit that is looked for.
const LONGEST_WORDS: usize = 5;
/// The number of characters of the longest unit within a word.
const LONGEST_LETTERS: usize = 6;
/// How often a unit may stay in a row.
const KEPT: usize = 2;
/// How often letters stand in a row before they are shortened to [`KEPT`]: words such as "ਹਾਹਾਹਾ" stay.
const LETTERS_FROM: usize = 4;
/// How often a run of tokens comes in a row in a text that does not end.
const LOOP_TIMES: usize = 4;

/// The translation with each unit of one to five words at most twice in a row, and letters that a word has four times in a
/// row only twice. It stays as it is where its source repeats in the same way; so do units with digits, also in words, which are
/// copied from the source.
pub(super) fn shortened(translation: &str, source: &str) -> String {
    let mut text = translation.to_owned();
    if find(source, repeated_letters).is_none() {
        while let Some(range) = find(&text, repeated_letters) {
            text.replace_range(range, "");
        }
    }
    if repeated_words(source).is_none() {
        while let Some(range) = repeated_words(&text) {
            text.replace_range(range, "");
        }
    }
    text
}

/// Whether a run of tokens comes at least [`LOOP_TIMES`] times in a row. A single token must come twice as often: a digit
/// may be spoken some times.
pub(crate) fn is_loop(tokens: &[i64]) -> bool {
    run(tokens, tokens.len() / LOOP_TIMES, LOOP_TIMES, |unit| unit.len() > 1).is_some()
}

/// The first range in one of the words of a text, by a function of the word.
fn find(text: &str, within: impl Fn(&str) -> Option<Range<usize>>) -> Option<Range<usize>> {
    words(text).into_iter().find_map(|word| {
        let range = within(&text[word.clone()])?;
        Some(word.start + range.start..word.start + range.end)
    })
}

/// What to take out of a text whose words repeat: from the end of the second unit to the end of the last one.
fn repeated_words(text: &str) -> Option<Range<usize>> {
    let places = words(text);
    let folded: Vec<String> = places.iter().map(|range| text[range.clone()].to_lowercase()).collect();
    let (at, size, n) = run(&folded, LONGEST_WORDS, KEPT + 1, |unit| {
        !unit.iter().any(|word| word.contains(|c: char| c.is_numeric()) || numbers::is_digit(word))
    })?;
    let last = |units: usize| Some(places.get(at + size * units - 1)?.end);
    Some(last(KEPT)?..last(n)?)
}

/// What to take out of a word whose letters repeat.
fn repeated_letters(word: &str) -> Option<Range<usize>> {
    let letters: Vec<(usize, char)> = word.char_indices().collect();
    let plain: Vec<char> = letters.iter().map(|(_, c)| *c).collect();
    let (at, size, n) =
        run(&plain, LONGEST_LETTERS, LETTERS_FROM, |unit| !unit.iter().any(|c| c.is_numeric()))?;
    let end = |units: usize| letters.get(at + size * units).map_or(word.len(), |(byte, _)| *byte);
    Some(end(KEPT)..end(n))
}

/// The first unit of at most `longest` items that stands at least `least` times in a row: where, its size, and how often.
/// Of several at one place it is the shortest.
fn run<T: PartialEq>(
    items: &[T],
    longest: usize,
    least: usize,
    may_be: impl Fn(&[T]) -> bool,
) -> Option<(usize, usize, usize)> {
    (0..items.len()).find_map(|at| {
        (1..=longest).find_map(|size| {
            let unit = items.get(at..at + size)?;
            let n = items[at..].chunks_exact(size).take_while(|other| *other == unit).count();
            (n >= least && may_be(unit)).then_some((at, size, n))
        })
    })
}

/// The places of the words: runs of letters, digits, marks and underscores.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut places: Vec<Range<usize>> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| continues_a_word(*c)) {
        let end = at + c.len_utf8();
        match places.last_mut() {
            Some(word) if word.end == at => word.end = end,
            _ => places.push(at..end),
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_stay_twice_in_a_row() {
        let shortened = |text| shortened(text, "ਪਾਣੀ");
        assert_eq!(shortened("water, water, Water, water."), "water, water.");
        assert_eq!(
            shortened("I am on the way on the way on the way home"),
            "I am on the way on the way home"
        );
        assert_eq!(shortened("ਬਹੁਤ ਬਹੁਤ ਧੰਨਵਾਦ"), "ਬਹੁਤ ਬਹੁਤ ਧੰਨਵਾਦ");
        assert_eq!(shortened("ਘਰ ਘਰ ਘਰ ਹੈ ਹੈ ਹੈ"), "ਘਰ ਘਰ ਹੈ ਹੈ");
        assert_eq!(shortened(""), "");
    }

    #[test]
    fn letters_of_a_word_stay_twice_in_a_row() {
        assert_eq!(shortened("nonononono way", "ਨਹੀਂ"), "nono way");
        assert_eq!(shortened("ਲਾਲਾਲਾਲਾਲਾ ਹੈ", "red"), "ਲਾਲਾ ਹੈ");
        assert_eq!(shortened("ਹਾਹਾਹਾ", "haha"), "ਹਾਹਾਹਾ");
    }

    #[test]
    fn what_the_source_repeats_stays() {
        assert_eq!(shortened("no no no no", "ਨਹੀਂ ਨਹੀਂ ਨਹੀਂ"), "no no no no");
        assert_eq!(shortened("hahahahaha", "ਹਾਹਾਹਾਹਾ"), "hahahahaha");
        assert_eq!(shortened("room 7 7 7 of A4 A4 A4", "ਕਮਰਾ 7, 7 ਜਾਂ 7"), "room 7 7 7 of A4 A4 A4");
    }

    #[test]
    fn a_run_that_comes_four_times_is_a_loop() {
        assert!(is_loop(&[9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 8]));
        assert!(!is_loop(&[9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 8]));
        assert!(is_loop(&[5; 8]));
        assert!(!is_loop(&[5; 7]), "a digit may be spoken some times");
        assert!(!is_loop(&[1, 2, 1, 2, 1, 2, 3, 1, 2]));
        assert!(!is_loop(&[]));
    }

    proptest! {
        #[test]
        fn nothing_repeats_afterwards(words in prop::collection::vec("[abਕਾ]{1,3}|[.,1]", 0..30)) {
            let text = words.join(" ");
            let once = shortened(&text, "");
            prop_assert_eq!(repeated_words(&once), None);
            prop_assert_eq!(find(&once, repeated_letters), None);
            prop_assert_eq!(shortened(&once, ""), once);
        }
    }
}
