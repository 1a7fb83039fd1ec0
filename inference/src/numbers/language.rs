//! What the words of a language mean, and a number in its words.

use super::{
    english,
    number::{Language, Number},
    panjabi,
    parse::Meaning,
};

impl Language {
    /// What a word means in a number, and whether it is doubtful alone.
    pub(super) fn meaning(self, word: &str) -> Option<(Meaning, bool)> {
        match self {
            Self::English => english::meaning(word),
            Self::Panjabi => panjabi::meaning(word),
        }
    }
}

impl Number {
    pub(super) fn words(&self, language: Language) -> String {
        match language {
            Language::English => english::words(self),
            Language::Panjabi => panjabi::words(self),
        }
    }
}
