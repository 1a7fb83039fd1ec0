//! The written form: words as they are spoken come in, words with figures and marks come out, with the times of the words
//! that they stand for.

use std::{iter, ops::Range};

use super::word::{TimedText, text};
use crate::{
    numbers::{self, Figure, Language},
    punctuation::Mark,
    text::{folded, latin_digit},
};

/// How many words before and behind a segment say whether a number goes on there.
pub const AROUND: usize = 8;

/// The digits that figures are written with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// 0 to 9.
    Latin,
    /// ੦ to ੯.
    Gurmukhi,
}

/// How numbers are written in the texts of a language.
#[derive(Debug, Clone, Copy)]
pub struct WrittenForm {
    language: Language,
    digits: Digits,
}

impl WrittenForm {
    /// The form for a language's code. `None` if its numbers are not known.
    pub fn new(language: &str, digits: Digits) -> Option<Self> {
        Some(Self { language: Language::of(language)?, digits })
    }

    /// A text with figures, in NFC, with one spelling for letters that look alike.
    pub fn text(&self, text: &str) -> String {
        let text = folded(text);
        self.applied(&text, 0..text.len(), &numbers::figures(&text, self.language))
    }

    /// The words of a segment as they are spoken, with the marks that stand behind them.
    pub fn sentences(&self, words: &[TimedText], marks: &[Mark]) -> String {
        let marks = marks.iter().copied().chain(iter::repeat(Mark::None));
        let marked = words.iter().zip(marks).map(|(word, mark)| word.text.clone() + self.mark(mark));
        marked.collect::<Vec<_>>().join(" ")
    }

    /// The words of a segment with figures, and with the marks that stand behind them, if these are known. A figure that
    /// stands for several words begins with the first and ends with the last of them. Without marks and joined with spaces,
    /// the words of a whole recording are the [text](Self::text) of the words joined.
    ///
    /// A number may go on in the next segment: `recording` has the words around the segment, of which [`AROUND`] are read
    /// on each side.
    pub fn words(&self, recording: &[TimedText], segment: Range<usize>, marks: &[Mark]) -> Vec<TimedText> {
        let words = &recording[segment.clone()];
        let spoken = text(words);
        let figures = self.figures(&spoken, recording, segment);
        let mut written = Vec::new();
        let mut end = 0;
        let mut first = 0; // the first word of the next one
        let mut start = 0; // where it starts
        for (nth, word) in words.iter().enumerate() {
            end += usize::from(nth > 0) + word.text.len();
            // The space behind this word is in a figure.
            if nth + 1 < words.len() && figures.iter().any(|figure| figure.start <= end && end < figure.end) {
                continue;
            }
            let said = &words[first..=nth];
            written.push(TimedText {
                text: self.applied(&spoken, start..end, &figures)
                    + self.mark(marks.get(nth).copied().unwrap_or(Mark::None)),
                start: words[first].start,
                end: word.end,
                evidence: said.iter().map(|word| word.evidence).sum(),
            });
            first = nth + 1;
            start = end + 1;
        }
        written
    }

    /// The figures of a segment that are the same with and without the words around it, and those that are read out digit by
    /// digit. The others are parts of a number.
    fn figures(self, spoken: &str, recording: &[TimedText], segment: Range<usize>) -> Vec<Figure> {
        let from = segment.start.saturating_sub(AROUND);
        let to = recording.len().min(segment.end + AROUND);
        let before = text(&recording[from..segment.start]);
        let start = before.len() + usize::from(!before.is_empty());
        let around = numbers::figures(&text(&recording[from..to]), self.language);
        let moved = |figure: &Figure| Figure {
            start: figure.start + start,
            end: figure.end + start,
            text: figure.text.clone(),
        };
        let mut figures = numbers::figures(spoken, self.language);
        figures.retain(|figure| is_read_out(figure, spoken) || around.contains(&moved(figure)));
        figures
    }

    /// A part of a text with its figures, of which none reaches out of it.
    fn applied(self, text: &str, part: Range<usize>, figures: &[Figure]) -> String {
        let mut written = String::new();
        let mut at = part.start;
        for figure in figures.iter().filter(|figure| part.start <= figure.start && figure.end <= part.end) {
            written.push_str(&text[at..figure.start]);
            written.push_str(&figure.text);
            at = figure.end;
        }
        written.push_str(&text[at..part.end]);
        written.chars().map(|c| self.digit(c)).collect()
    }

    const fn mark(self, mark: Mark) -> &'static str {
        match (mark, self.language) {
            (Mark::None, _) => "",
            (Mark::Comma, _) => ",",
            (Mark::Stop, Language::Panjabi) => "।",
            (Mark::Stop, Language::English) => ".",
            (Mark::Question, _) => "?",
        }
    }

    fn digit(self, c: char) -> char {
        match self.digits {
            Digits::Latin => latin_digit(c, '੦'),
            Digits::Gurmukhi => c.to_digit(10).and_then(|digit| char::from_u32(u32::from('੦') + digit)),
        }
        .unwrap_or(c)
    }
}

/// Whether a figure is said digit by digit, as a telephone number is, of which each part is right by itself.
fn is_read_out(figure: &Figure, spoken: &str) -> bool {
    let mut words = spoken[figure.start..figure.end].split_whitespace();
    let is_digit = |word| numbers::is_digit(word) || numbers::english_digits().any(|digit| digit == word);
    figure.text.len() > 1 && figure.text.chars().all(|c| c.is_ascii_digit()) && words.all(is_digit)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::speech::words::Evidence;

    const FORM: WrittenForm = WrittenForm { language: Language::Panjabi, digits: Digits::Latin };

    /// Words of one second each, with a pause of one second before each.
    fn words(text: &str) -> Vec<TimedText> {
        let word = |(nth, word): (u32, &str)| TimedText {
            text: word.to_owned(),
            start: f64::from(2 * nth + 1),
            end: f64::from(2 * nth + 2),
            evidence: Evidence::letter(0.5, -1.0),
        };
        (0..).zip(text.split_whitespace()).map(word).collect()
    }

    fn whole(form: WrittenForm, words: &[TimedText], marks: &[Mark]) -> Vec<TimedText> {
        form.words(words, 0..words.len(), marks)
    }

    /// Segments, with | between, as they are written.
    fn segments(form: WrittenForm, spoken: &str) -> String {
        let recording = words(&spoken.replace('|', ""));
        let mut start = 0;
        let written = spoken.split('|').map(|segment| {
            let end = start + segment.split_whitespace().count();
            let written = super::text(&form.words(&recording, start..end, &[]));
            start = end;
            written
        });
        written.collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn no_figure_is_a_part_of_a_number_that_goes_on_in_the_next_segment() {
        let english = WrittenForm { language: Language::English, digits: Digits::Latin };
        for spoken in [
            "He paid five | hundred rupees",
            "one hundred and | twenty thousand rupees",
            "one hundred | and twenty thousand rupees",
            "in nineteen | ninety eight",
            "two thousand, | three hundred people",
            "three thousand | four hundred | and fifty cars",
            "it costs twenty | point five percent",
            "one rupee | fifty paise",
            "at seven | thirty p.m.",
        ] {
            assert_eq!(segments(english, spoken), spoken);
        }
        for (spoken, expected) in [
            ("in nineteen ninety eight. | Two hundred men came", "in 1998. | 200 men came"),
            ("he has two hundred | and she has fifty", "he has 200 | and she has 50"),
            ("call nine eight seven | double five four", "call 987 | 554"),
            (
                "it was nineteen ninety | eight million people",
                "it was nineteen ninety | eight million people",
            ),
        ] {
            assert_eq!(segments(english, spoken), expected);
        }
        for spoken in ["ਇੱਕ ਲੱਖ | ਵੀਹ ਹਜ਼ਾਰ ਰੁਪਏ", "ਪੰਜ ਰੁਪਏ | ਪੰਜਾਹ ਪੈਸੇ", "ਸਾਢੇ | ਤਿੰਨ ਲੱਖ"]
        {
            assert_eq!(segments(FORM, spoken), spoken);
        }
        assert_eq!(segments(FORM, "ਉਸ ਨੇ ਵੀਹ | ਬੰਦੇ ਦੇਖੇ"), "ਉਸ ਨੇ 20 | ਬੰਦੇ ਦੇਖੇ");
    }

    #[test]
    fn a_figure_has_the_times_and_the_evidence_of_its_words() {
        let written = whole(FORM, &words("ਮੇਰੇ ਕੋਲ ਦੋ ਸੌ ਪੰਜਾਹ ਰੁਪਏ ਹਨ"), &[]);
        let timed: Vec<_> = written.iter().map(|w| (w.text.as_str(), w.start, w.end)).collect();
        assert_eq!(timed, [("ਮੇਰੇ", 1.0, 2.0), ("ਕੋਲ", 3.0, 4.0), ("₹250", 5.0, 12.0), ("ਹਨ", 13.0, 14.0)]);
        assert_eq!(written[2].evidence.n_letters(), 4);
    }

    #[test]
    fn marks_stand_behind_words_and_none_within_a_figure() {
        use Mark::{Comma, None, Question, Stop};
        let spoken = words("ਅੱਛਾ ਦੋ ਸੌ ਪੰਜਾਹ ਰੁਪਏ ਕਿਉਂ ਨਹੀਂ");
        let marks = [Comma, None, Stop, None, Question, None, Stop];
        assert_eq!(super::text(&whole(FORM, &spoken, &marks)), "ਅੱਛਾ, ₹250? ਕਿਉਂ ਨਹੀਂ।");
        assert_eq!(FORM.sentences(&spoken, &marks), "ਅੱਛਾ, ਦੋ ਸੌ। ਪੰਜਾਹ ਰੁਪਏ? ਕਿਉਂ ਨਹੀਂ।");
    }

    #[test]
    fn the_characters_around_a_figure_stay() {
        let english = WrittenForm { language: Language::English, digits: Digits::Latin };
        let text = "\"Twenty-five thousand, or fifty percent,\" he said: a thirty-year-old plan.";
        let written = "\"25,000, or 50%,\" he said: a 30-year-old plan.";
        assert_eq!(english.text(text), written);
        assert_eq!(super::text(&whole(english, &words(text), &[])), written);
    }

    #[test]
    fn all_digits_are_of_one_script() {
        let gurmukhi = WrittenForm { digits: Digits::Gurmukhi, ..FORM };
        assert_eq!(gurmukhi.text("ਸਾਢੇ ਪੰਜ ਵਜੇ 12 ਬੰਦੇ"), "੫:੩੦ ਵਜੇ ੧੨ ਬੰਦੇ");
        assert_eq!(FORM.text("੧੨ ਬੰਦੇ"), "12 ਬੰਦੇ");
    }

    proptest! {
        #[test]
        fn segments_have_no_figure_that_their_recording_has_not(
            spoken in "(ਉਹ )?((ਇੱਕ|ਦੋ|ਪੰਜ|ਵੀਹ|ਸੌ|ਹਜ਼ਾਰ|ਲੱਖ|ਡੇਢ|ਸਾਢੇ|ਰੁਪਏ|ਪੈਸੇ|ਵਜੇ|ਅਤੇ) ){1,8}",
            divided_at in 0..8_usize,
        ) {
            let recording = words(&spoken);
            let at = divided_at.min(recording.len());
            let whole = whole(FORM, &recording, &[]);
            let segments = [0..at, at..recording.len()].map(|segment| FORM.words(&recording, segment, &[]));
            let is_read_out = |text: &str| text.chars().all(|digit| "125".contains(digit));
            let figures = segments.iter().flatten().filter(|word| word.text.contains(char::is_numeric));
            for word in figures.filter(|word| !is_read_out(&word.text)) {
                prop_assert!(whole.contains(word), "{:?}", word);
            }
        }

        #[test]
        fn other_words_stay_in_order_and_times_ascend(
            spoken in "((ਇੱਕ|ਦੋ|ਪੰਜ|ਵੀਹ|ਸੌ|ਹਜ਼ਾਰ|ਲੱਖ|ਡੇਢ|ਸਾਢੇ|ਰੁਪਏ|ਪੈਸੇ|ਵਜੇ|ਫ਼ੀਸਦੀ|ਪੰਜਵੀਂ|ਮਾਰਚ|ਤੇ|ਅਤੇ|ਘਰ|ਜਾ) ?){0,20}                     |((one|two|ten|fifty|hundred|and|a|half|past|point|double|rupees|percent|May|third|of|home|it's) ?){0,20}",
        ) {
            for language in [Language::Panjabi, Language::English] {
                for digits in [Digits::Latin, Digits::Gurmukhi] {
                    let form = WrittenForm { language, digits };
                    let spoken = words(&spoken);
                    let written = whole(form, &spoken, &[]);
                    prop_assert_eq!(super::text(&written), form.text(&super::text(&spoken)));
                    prop_assert_eq!(spoken.first().map(|w| w.start), written.first().map(|w| w.start));
                    prop_assert_eq!(spoken.last().map(|w| w.end), written.last().map(|w| w.end));
                    let times: Vec<f64> = written.iter().flat_map(|w| [w.start, w.end]).collect();
                    prop_assert!(times.is_sorted(), "{:?}", written);
                    let stays = |word: &&TimedText| !word.text.contains(char::is_numeric);
                    for word in written.iter().filter(stays) {
                        prop_assert!(spoken.contains(word), "{:?}", word);
                    }
                    for word in spoken.iter().filter(|w| ["ਘਰ", "ਜਾ", "home", "it's"].contains(&&w.text[..])) {
                        prop_assert!(written.contains(word), "{:?}", word);
                    }
                }
            }
        }
    }
}
