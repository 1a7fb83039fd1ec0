//! Scripts of Panjabi: a text in Gurmukhi comes in, the same in Latin or Shahmukhi letters comes out. What is not Gurmukhi
//! stays, so English text does not change.

mod latin;
mod letters;
mod shahmukhi;

use std::mem;

use unicode_normalization::UnicodeNormalization as _;

use crate::text::folded;

/// The script that Panjabi is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Script {
    /// Gurmukhi, as the models write it.
    #[default]
    Gurmukhi,
    /// Latin letters by ISO 15919. The letters of a Gurmukhi text can be told from it.
    Latin,
    /// Shahmukhi, the Perso-Arabic script, by rules and a list of words. It is approximate: a letter of Gurmukhi can stand for
    /// several ones of words from Arabic and Persian, and only the list has these.
    Shahmukhi,
}

impl Script {
    /// The text with its Gurmukhi in this script, in NFC. The text of words with spaces between them is that of each word
    /// with spaces between them. Digits stay.
    pub fn write(self, text: &str) -> String {
        match self {
            Self::Gurmukhi => text.to_owned(),
            Self::Latin => replaced(text, latin::word, |_, mark| if is_danda(mark) { '.' } else { mark }),
            Self::Shahmukhi => replaced(text, shahmukhi::word, shahmukhi::mark),
        }
    }
}

/// Whether a text has something that other scripts write differently.
pub fn has_gurmukhi(text: &str) -> bool {
    text.chars().any(is_gurmukhi)
}

/// Letters and signs of Gurmukhi, without digits.
fn is_gurmukhi(c: char) -> bool {
    matches!(c, '\u{0A01}'..='\u{0A65}' | '\u{0A70}'..='\u{0A76}')
}

const fn is_danda(c: char) -> bool {
    matches!(c, '।' | '॥')
}

/// Replaces words of Gurmukhi by `word`, and each character between them by `mark`, which is told whether a word stands
/// before it.
fn replaced(text: &str, word: fn(&str) -> String, mark: fn(bool, char) -> char) -> String {
    let mut written = String::with_capacity(text.len());
    let mut letters = String::new();
    for c in folded(text).chars() {
        if is_gurmukhi(c) {
            letters.push(c);
            continue;
        }
        let is_behind_word = !letters.is_empty();
        written.push_str(&word(&mem::take(&mut letters)));
        written.push(mark(is_behind_word, c));
    }
    written.push_str(&word(&letters));
    written.nfc().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_not_gurmukhi_stays() {
        let text = "Hello, is it 5:15 or ੫:੧੫? \"Yes,\" they said; ok.";
        for script in [Script::Gurmukhi, Script::Latin, Script::Shahmukhi] {
            assert_eq!(script.write(text), text);
        }
        assert_eq!(Script::Latin.write("ਮੇਰੇ ਕੋਲ ₹250 ਹਨ। Is it? ਹਾਂ?"), "mērē kōla ₹250 hana. Is it? hāṁ?");
        assert_eq!(Script::Shahmukhi.write("ਹਾਂ, ₹250 ਹਨ। Is it? ਹੈ?"), "ہاں، ₹250 ہن۔ Is it? ہے؟");
    }

    proptest! {
        #[test]
        fn the_text_of_words_is_that_of_each_word(words in prop::collection::vec("[ਅ-ਹਾ-੍ੰੱਂ਼]{1,8}[,?।]?|[a-z5]{1,3}[.,?]?", 0..6)) {
            for script in [Script::Latin, Script::Shahmukhi] {
                let each: Vec<String> = words.iter().map(|word| script.write(word)).collect();
                prop_assert_eq!(script.write(&words.join(" ")), each.join(" "));
            }
        }
    }
}
