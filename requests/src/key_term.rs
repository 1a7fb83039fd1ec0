//! A term that a recording is likely to have, such as a name.

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization as _;

use crate::panjabi_text::legible;

/// The most characters that a term may have in NFC.
pub const MAX_CHARS: usize = 64;
/// The most terms of a recording.
pub const MAX_TERMS: usize = 100;

/// The letters, as a character class of a regular expression without its brackets. The six Gurmukhi letters that NFC
/// decomposes are left out.
macro_rules! letters {
    () => {
        concat!(
            r"A-Za-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u024F",
            r"\u0A05-\u0A0A\u0A0F\u0A10\u0A13-\u0A28\u0A2A-\u0A30\u0A32\u0A35\u0A38\u0A39\u0A5C\u0A72-\u0A74"
        )
    };
}

/// An ECMA-262 regular expression that matches every valid term that is in NFC.
pub const PATTERN: &str = {
    macro_rules! allowed {
        () => {
            concat!(
                "[",
                letters!(),
                r"\u0A01-\u0A03\u0A3C\u0A3E-\u0A42\u0A47\u0A48\u0A4B-\u0A4D\u0A66-\u0A71\u0A75",
                r"0-9 '’.&-]*"
            )
        };
    }
    concat!("^", allowed!(), "[", letters!(), "]", allowed!(), "$")
};

/// A term in NFC, without spaces at its ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KeyTerm(String);

/// A rule that a term breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyTermError {
    /// It has more characters than [`MAX_CHARS`].
    #[error("{0} characters after normalisation to NFC, expected at most {MAX_CHARS}")]
    TooLong(usize),
    /// A character is not allowed.
    #[error(
        "the character '{}' (U+{:04X}), expected Gurmukhi or Latin letters, digits, spaces and ' ’ . & -",
        legible(.0.encode_utf8(&mut [0; 4])),
        u32::from(*.0)
    )]
    NotAllowed(char),
    /// It has no letter.
    #[error("no letter, expected at least one")]
    NoLetter,
}

impl KeyTerm {
    /// Checks a term, converts it to NFC, and writes several spaces as one.
    pub fn parse(sent: &str) -> Result<Self, KeyTermError> {
        let text: String = sent.nfc().collect();
        if let Some(other) = text.chars().find(|c| !is_letter(*c) && !is_other(*c)) {
            return Err(KeyTermError::NotAllowed(other));
        }
        let text = text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        match text.chars().count() {
            n if n > MAX_CHARS => Err(KeyTermError::TooLong(n)),
            _ if !text.chars().any(is_letter) => Err(KeyTermError::NoLetter),
            _ => Ok(Self(text)),
        }
    }

    /// The term.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic()
        || matches!(c, '\u{c0}'..='\u{24f}' if !matches!(c, '×' | '÷'))
        || matches!(
            c,
            '\u{a05}'..='\u{a0a}'
                | '\u{a0f}'
                | '\u{a10}'
                | '\u{a13}'..='\u{a28}'
                | '\u{a2a}'..='\u{a30}'
                | '\u{a32}'
                | '\u{a35}'
                | '\u{a38}'
                | '\u{a39}'
                | '\u{a5c}'
                | '\u{a72}'..='\u{a74}'
        )
}

/// Whether it may stand beside letters: a sign of Gurmukhi, a digit, a space or punctuation.
fn is_other(c: char) -> bool {
    matches!(
        c,
        '\u{a01}'..='\u{a03}'
            | '\u{a3c}'
            | '\u{a3e}'..='\u{a42}'
            | '\u{a47}'
            | '\u{a48}'
            | '\u{a4b}'..='\u{a4d}'
            | '\u{a66}'..='\u{a71}'
            | '\u{a75}'
            | '0'..='9'
            | ' '
            | '\''
            | '’'
            | '.'
            | '&'
            | '-'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(sent: &str) -> Result<String, String> {
        KeyTerm::parse(sent).map(|term| term.0).map_err(|error| error.to_string())
    }

    #[test]
    fn a_term_has_letters_of_gurmukhi_or_latin_in_nfc() {
        for (sent, expected) in [
            ("ਗੁਰਪ੍ਰੀਤ", "ਗੁਰਪ੍ਰੀਤ"),
            ("\u{a36}ਹੀਦ", "ਸ\u{a3c}ਹੀਦ"),
            ("  Dera   Bassi ", "Dera Bassi"),
            ("Müller & Co.", "Müller & Co."),
            ("ਸੈਕਟਰ 22", "ਸੈਕਟਰ 22"),
        ] {
            assert_eq!(parsed(sent).as_deref(), Ok(expected));
        }
    }

    #[test]
    fn the_error_says_what_is_wrong() {
        for (sent, expected) in [
            ("", "no letter"),
            (" 22 ", "no letter"),
            ("गुरप्रीत", "the character 'ग' (U+0917), expected Gurmukhi or Latin letters"),
            ("a\nb", "the character '\\n' (U+000A)"),
            (&"a".repeat(65), "65 characters after normalisation to NFC, expected at most 64"),
        ] {
            let error = parsed(sent).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        assert!(parsed(&"ਕ".repeat(64)).is_ok());
    }
}
