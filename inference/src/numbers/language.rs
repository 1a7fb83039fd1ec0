//! What the words of a language mean, and a number in its words.

use super::{
    english,
    number::{Language, Number},
    panjabi,
    token::Meaning,
};

impl Language {
    /// What a word means in a number, and whether it is doubtful alone.
    pub(super) fn meaning(self, word: &str) -> Option<(Meaning, bool)> {
        if word.ends_with(char::is_numeric) {
            return Some((Meaning::Unread, true));
        }
        match self {
            Self::English => english::meaning(word),
            Self::Panjabi => panjabi::meaning(word),
        }
    }

    /// The ending of an ordinal behind a figure: th, and ਵੀਂ of ਪੰਜਵੀਂ.
    pub(super) fn ending(self, ordinal: &str) -> &'static str {
        match self {
            Self::English => "th",
            Self::Panjabi => panjabi::ending(ordinal),
        }
    }

    /// Whether a word is nearly one of the longer words of numbers: all letters but one are the same, without the signs that
    /// are often left out.
    pub(super) fn is_like_a_number(self, word: &str) -> bool {
        // The land and its people are no number.
        if word.starts_with("ਪੰਜਾਬ") {
            return false;
        }
        let word = plain(word);
        let is_like = |form: &str| {
            let form = plain(form);
            form.len() >= 5 && word.first() == form.first() && is_within_one(&word, &form)
        };
        match self {
            Self::English => english::forms().any(is_like),
            Self::Panjabi => panjabi::forms()
                .filter(|(_, meaning)| matches!(meaning, Meaning::Small(_) | Meaning::Scale(_)))
                .any(|(form, _)| is_like(form)),
        }
    }

    /// Whether a word is made of words of numbers: ਦੋਸੌ, ਪੰਜਾਂ of ਪੰਜ.
    pub(super) fn has_a_number(self, word: &str) -> bool {
        let is_number = |word: &str| {
            let meaning = self.meaning(word).map(|(meaning, _)| meaning);
            word.chars().count() > 1
                && matches!(
                    meaning,
                    Some(Meaning::Small(_) | Meaning::Tens(_) | Meaning::Scale(_) | Meaning::Quarters(_))
                )
        };
        let is_ending =
            |rest: &str| self == Self::Panjabi && ["ਂ", "ਾਂ", "ਆਂ", "ੀਂ", "ੀ", "ੇ", "ੋਂ", "ਵਿਆਂ"].contains(&rest);
        word.char_indices()
            .map(|(at, _)| word.split_at(at))
            .any(|(head, rest)| is_number(head) && (is_number(rest) || is_ending(rest)))
    }
}

/// The letters of a word, in lower case, without addak, bindi, tippi, nukta and virama.
fn plain(word: &str) -> Vec<char> {
    let is_sign = |c: &char| matches!(c, '\u{a02}' | '\u{a70}' | '\u{a71}' | '\u{a3c}' | '\u{a4d}');
    word.chars().filter(|c| !is_sign(c)).map(|c| c.to_ascii_lowercase()).collect()
}

/// Whether one letter more, less or other makes one word of the other.
fn is_within_one(one: &[char], other: &[char]) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let n_same = short.iter().zip(long).take_while(|(one, other)| one == other).count();
    match long.len() - short.len() {
        0 => n_same == long.len() || short[n_same + 1..] == long[n_same + 1..],
        1 => short[n_same..] == long[n_same + 1..],
        _ => false,
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
