//! Numbers of a text, and their words in a language.

use std::ops::Range;

use super::number::{Kind, Language, Reading, Said};

/// Numbers that stand one after another in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    /// The byte of the text at which the run starts.
    pub(crate) start: usize,
    /// The byte behind its end.
    pub(crate) end: usize,
    /// The tokens of the text that are its words.
    pub(super) tokens: Range<usize>,
    /// Numbers with a space between them, and the next ones behind a comma.
    pub(super) groups: Vec<Reading>,
    /// Whether all words of numbers here are read, and mean nothing else. If not, the run is written in words.
    pub(super) is_whole: bool,
    /// The ending of an ordinal behind a figure, in the language of the text: th, ਵੀਂ.
    pub(crate) ending: &'static str,
}

impl Run {
    /// The run in words of a language.
    pub(crate) fn words(&self, language: Language) -> String {
        self.groups.iter().map(|group| group.words(language)).collect::<Vec<_>>().join(", ")
    }

    /// Its numbers.
    pub(super) fn said(&self) -> impl Iterator<Item = &Said> {
        self.groups.iter().flat_map(|group| &group.said)
    }
}

impl Reading {
    fn words(&self, language: Language) -> String {
        let words = |said: &Said| said.number.words(language);
        let number = |said: &Said| said.number.hour_or_count();
        match (&self.said[..], self.kind) {
            ([low, high], Kind::Range) => {
                let is_either = match (number(low), number(high)) {
                    (Some(low), Some(high)) => low < high && high - low <= 4,
                    _ => false,
                };
                let between = match (language, is_either) {
                    (Language::English, true) => "or",
                    (Language::English, false) => "to",
                    (Language::Panjabi, _) => "ਤੋਂ",
                };
                format!("{} {between} {}", words(low), words(high))
            }
            ([each, _], Kind::Each) => match language {
                Language::English => words(each),
                Language::Panjabi => format!("{0}-{0}", words(each)),
            },
            _ => self.said.iter().map(words).collect::<Vec<_>>().join(" "),
        }
    }
}
