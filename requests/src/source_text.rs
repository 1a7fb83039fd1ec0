//! A text to be translated, in Unicode normalization form C (NFC).

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use crate::language::Language;

/// The number of Unicode scalar values that a text may have in NFC.
pub const LENGTH: RangeInclusive<usize> = 1..=5_000;

/// A text in NFC, whose length is allowed, with something to read in it. Its lines end with LF.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct SourceText(String);

/// A rule that a text breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SourceTextError {
    /// It has nothing but white space.
    #[error("has only white space, expected a text in Gurmukhi or Latin letters")]
    Blank,
    /// It has more characters than [`LENGTH`] allows.
    #[error("has {0} characters after normalisation to NFC, expected {min} to {max}", min = LENGTH.start(), max = LENGTH.end())]
    TooLong(usize),
    /// It has U+0000, which cannot be stored. The position is that in the text as it was sent, from 1.
    #[error("has the character U+0000 at position {0}, which no text may have")]
    Nul(usize),
}

impl SourceText {
    /// Checks a text and converts it to NFC. A line may end with CR LF; it ends with LF in the result.
    pub fn parse(sent: &str) -> Result<Self, SourceTextError> {
        if let Some(at) = sent.chars().position(|c| c == '\0') {
            return Err(SourceTextError::Nul(at + 1));
        }
        let text: String = sent.replace("\r\n", "\n").nfc().collect();
        match text.chars().count() {
            n if n > *LENGTH.end() => Err(SourceTextError::TooLong(n)),
            _ if text.trim().is_empty() => Err(SourceTextError::Blank),
            _ => Ok(Self(text)),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The language by the script of most letters: Gurmukhi is Panjabi, Latin is English. Panjabi, if as many are of either.
    pub fn language(&self) -> Language {
        let n_letters = |is_letter: fn(&char) -> bool| self.0.chars().filter(is_letter).count();
        let n_gurmukhi =
            n_letters(|c| matches!(c, '\u{a05}'..='\u{a39}' | '\u{a59}'..='\u{a5e}' | '\u{a72}'..='\u{a74}'));
        let n_latin = n_letters(|c| c.is_alphabetic() && matches!(c, 'A'..='\u{24f}'));
        if n_latin > n_gurmukhi { Language::English } else { Language::Panjabi }
    }
}

impl TryFrom<String> for SourceText {
    type Error = SourceTextError;

    fn try_from(text: String) -> Result<Self, SourceTextError> {
        Self::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(sent: &str) -> Result<String, String> {
        SourceText::parse(sent).map(|text| text.0).map_err(|error| error.to_string())
    }

    #[test]
    fn a_text_has_something_to_read_in_nfc_and_lines_that_end_with_lf() {
        assert_eq!(parsed("\u{a36}ਹੀਦ\r\n\n ok ").as_deref(), Ok("ਸ\u{a3c}ਹੀਦ\n\n ok "));
        assert_eq!(parsed(&"ਕ".repeat(5_000)).map(|text| text.len()), Ok(15_000));
        for (sent, expected) in [
            ("", "has only white space, expected a text in Gurmukhi or Latin letters"),
            (" \r\n", "has only white space, expected a text in Gurmukhi or Latin letters"),
            (&"ਕ".repeat(5_001), "has 5001 characters after normalisation to NFC, expected 1 to 5000"),
            ("ਕ\0", "has the character U+0000 at position 2, which no text may have"),
        ] {
            assert_eq!(parsed(sent).unwrap_err(), expected);
        }
    }

    #[test]
    fn the_script_of_most_letters_tells_the_language() {
        for (text, language) in [
            ("ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", Language::Panjabi),
            ("ਮੇਰਾ ATM ਕਾਰਡ ਗੁੰਮ ਹੋ ਗਿਆ ਹੈ", Language::Panjabi),
            ("123 👍", Language::Panjabi),
            ("I live in ਮੋਗਾ now", Language::English),
            ("Où est Amrit?", Language::English),
        ] {
            assert_eq!(SourceText::parse(text).unwrap().language(), language, "{text}");
        }
    }
}
