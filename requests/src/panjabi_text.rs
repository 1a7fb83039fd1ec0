//! A text to be written by hand, in Unicode normalization form C (NFC).
//!
//! In NFC each of the six letters with a dot below is two characters, a base letter and a nukta: NFC decomposes
//! U+0A36 and never composes it again (<https://www.unicode.org/reports/tr15/>, composition exclusions). The length
//! of a text is the number of its characters in NFC.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use unicode_normalization::{
    UnicodeNormalization as _,
    char::{decompose_canonical, is_combining_mark},
};

use crate::digits::Digits;

/// The allowed characters in NFC, figures included, as a character class of a regular expression.
macro_rules! allowed {
    () => {
        concat!(
            r"[\u0A00-\u0A32\u0A34\u0A35\u0A37-\u0A58\u0A5C\u0A5D\u0A5F-\u0A7F\u0964\u0965\u200C\u200D",
            r#"\u2010-\u2015\u2018\u2019\u201C\u201D\u2026 \n.,?!()'":;/%0-9\u20B9-]"#
        )
    };
}

/// The number of Unicode scalar values that a text may have in NFC.
pub const LENGTH: RangeInclusive<usize> = 2..=100;

/// An ECMA-262 regular expression that matches every text in NFC that is valid with figures: allowed characters, at least
/// one of them a letter, digit or ₹. It does not match the six letters that NFC decomposes.
pub const PATTERN: &str = concat!(
    "^",
    allowed!(),
    "*",
    r"[\u0A05-\u0A0A\u0A0F\u0A10\u0A13-\u0A28\u0A2A-\u0A30\u0A32\u0A35\u0A38\u0A39\u0A5C\u0A66-\u0A6F\u0A72-\u0A740-9\u20B9]",
    allowed!(),
    "*$"
);

/// Gurmukhi letters and digits: the code points of the block with the general category Lo, and the digits.
const LETTERS: [RangeInclusive<char>; 11] = [
    '\u{a05}'..='\u{a0a}',
    '\u{a0f}'..='\u{a10}',
    '\u{a13}'..='\u{a28}',
    '\u{a2a}'..='\u{a30}',
    '\u{a32}'..='\u{a33}',
    '\u{a35}'..='\u{a36}',
    '\u{a38}'..='\u{a39}',
    '\u{a59}'..='\u{a5c}',
    '\u{a5e}'..='\u{a5e}',
    '\u{a66}'..='\u{a6f}', // digits
    '\u{a72}'..='\u{a74}',
];

/// A text in NFC whose length and characters are allowed. Its lines end with LF.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct PanjabiText(String);

/// An error names at most so many characters.
const MAX_NAMED: usize = 10;

/// A rule that a text breaks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PanjabiTextError {
    /// It has fewer characters than [`LENGTH`] allows.
    #[error("{}", wrong_length(*.0))]
    TooShort(usize),
    /// It has more characters than [`LENGTH`] allows.
    #[error("{}", wrong_length(*.0))]
    TooLong(usize),
    /// Characters that are not allowed, each with its position in the text as it was sent, from 1.
    #[error(
        "has {}, expected Gurmukhi (U+0A00 to U+0A7F), spaces, newlines, the dandas U+0964 and U+0965, the joiners \
         U+200C and U+200D, dashes (U+2010 to U+2015), or . , ? ! - ( ) ' \" : ; / % ‘ ’ “ ” …{}",
        named(.0), needs_figures(.0)
    )]
    NotAllowed(Vec<(char, usize)>),
    /// It has no letter and no digit.
    #[error("has no Gurmukhi letter or digit, expected at least one")]
    NoLetter,
}

impl PanjabiText {
    /// Checks a text and converts it to NFC. Returns every rule that it breaks. A line may end with CR LF, as browsers
    /// send it; it ends with LF in the result. Only with `figures`, it may have the digits 0 to 9, which are then converted to
    /// these, and ₹.
    pub fn parse(sent: &str, figures: Option<Digits>) -> Result<Self, Vec<PanjabiTextError>> {
        let converted = |c: char| if figures == Some(Digits::Gurmukhi) { gurmukhi_digit(c) } else { c };
        let text: String = sent.replace("\r\n", "\n").nfc().map(converted).collect();
        let mut errors = Vec::new();
        match text.chars().count() {
            n if n < *LENGTH.start() => errors.push(PanjabiTextError::TooShort(n)),
            n if n > *LENGTH.end() => errors.push(PanjabiTextError::TooLong(n)),
            _ => (),
        }
        let ends_line = |at: usize| sent[at..].starts_with("\r\n");
        let characters = sent.char_indices().zip(1..);
        let is_figure = |c: char| figures.is_some() && is_figure(c);
        let not_allowed =
            characters.filter(|((at, c), _)| !is_allowed(*c) && !is_figure(*c) && !ends_line(*at));
        let not_allowed: Vec<_> = not_allowed.map(|((_, c), position)| (c, position)).collect();
        if !not_allowed.is_empty() {
            errors.push(PanjabiTextError::NotAllowed(not_allowed));
        }
        if !text.chars().any(|c| is_letter_or_digit(c) || is_figure(c)) {
            errors.push(PanjabiTextError::NoLetter);
        }
        if errors.is_empty() { Ok(Self(text)) } else { Err(errors) }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for PanjabiText {
    type Error = PanjabiTextError;

    fn try_from(text: String) -> Result<Self, PanjabiTextError> {
        Self::parse(&text, Some(Digits::Latin))
            .map_err(|errors| errors.into_iter().next().unwrap_or(PanjabiTextError::NoLetter))
    }
}

/// Whether a text may have a character only with figures.
const fn is_figure(c: char) -> bool {
    c.is_ascii_digit() || c == '₹'
}

/// What to do about figures among characters that are not allowed.
fn needs_figures(not_allowed: &[(char, usize)]) -> &'static str {
    let is_needed = not_allowed.iter().any(|(c, _)| is_figure(*c));
    if is_needed { "; with the field figures (gurmukhi or latin), also 0 to 9 and ₹" } else { "" }
}

/// A digit from 0 to 9 in Gurmukhi. Other characters are returned as they are.
fn gurmukhi_digit(c: char) -> char {
    c.to_digit(10).and_then(|digit| char::from_u32(u32::from('੦') + digit)).unwrap_or(c)
}

fn wrong_length(n_chars: usize) -> String {
    let characters = if n_chars == 1 { "character" } else { "characters" };
    let (min, max) = (LENGTH.start(), LENGTH.end());
    format!("has {n_chars} {characters} after normalisation to NFC, expected {min} to {max}")
}

/// The first characters, with their code points and positions, and the number of the others.
fn named(characters: &[(char, usize)]) -> String {
    let name = |(c, position): &(char, usize)| {
        format!("'{}' (U+{:04X}) at position {position}", legible(c.encode_utf8(&mut [0; 4])), u32::from(*c))
    };
    let named: Vec<String> = characters.iter().take(MAX_NAMED).map(name).collect();
    let more = characters.len() - named.len();
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", named.join(", "))
}

/// A text as a message shows it. Characters that are not seen or that change the order of others, such as controls, are
/// escaped, and a sign that stands alone is on a dotted circle.
pub fn legible(text: &str) -> String {
    let mut shown = String::new();
    let mut has_base = false;
    for c in text.chars() {
        let is_space = c == ' ';
        let is_hidden = akhar_accounts::is_hidden(c) || (c.is_whitespace() && !is_space);
        if is_combining_mark(c) && !has_base {
            shown.push('◌');
        }
        if is_hidden || matches!(c, '"' | '\\') {
            shown.extend(c.escape_debug());
        } else {
            shown.push(c);
        }
        has_base = !is_hidden && !is_space;
    }
    shown
}

/// Whether a text may contain a character: all characters of its canonical decomposition must be allowed.
fn is_allowed(c: char) -> bool {
    let mut is_allowed = true;
    decompose_canonical(c, |part| is_allowed &= is_of_panjabi_text(part));
    is_allowed
}

fn is_of_panjabi_text(c: char) -> bool {
    matches!(c, '\u{a00}'..='\u{a7f}' | '\u{2010}'..='\u{2015}')
        || " \n\u{964}\u{965}\u{200c}\u{200d}.,?!-()'\":;/%‘’“”…".contains(c)
}

fn is_letter_or_digit(c: char) -> bool {
    LETTERS.iter().any(|range| range.contains(&c))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parsed(sent: &str) -> Result<String, Vec<PanjabiTextError>> {
        PanjabiText::parse(sent, None).map(|text| text.0)
    }

    fn codes(sent: &str) -> Vec<&str> {
        let code = |error| match error {
            PanjabiTextError::TooShort(_) => "too_short",
            PanjabiTextError::TooLong(_) => "too_long",
            PanjabiTextError::NotAllowed(_) => "character_not_allowed",
            PanjabiTextError::NoLetter => "no_letter",
        };
        parsed(sent).err().into_iter().flatten().map(code).collect()
    }

    fn words(sent: &str) -> String {
        parsed(sent).unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn every_class_of_allowed_characters_is_accepted() {
        for sent in [
            "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ",
            "ੴ ਸਤਿ।",
            "੧੨",
            "ਕ\nਖ॥",
            "ਕ\u{200d}\u{200c}",
            "ਕ.,?!-()'\":;/%",
            "“ਕ” ‘ਖ’ – — ‐ …",
            "ਕ\u{a00}\u{a7f}",
            "ੳਾ",
            "ੲ ",
        ] {
            assert_eq!(parsed(sent).as_deref(), Ok(sent), "{sent}");
        }
        assert_eq!(parsed("ਕ\r\nਖ").as_deref(), Ok("ਕ\nਖ"));
        assert!(words("ਕ\r\nਖ\rz").contains("position 5"), "{}", words("ਕ\r\nਖ\rz"));
    }

    #[test]
    fn a_text_has_2_to_100_characters_in_nfc() {
        assert_eq!(codes("ਕਖ"), [""; 0]);
        assert_eq!(codes(&"ਕ".repeat(100)), [""; 0]);
        assert_eq!(codes("ਕ"), ["too_short"]);
        assert_eq!(codes(&"ਕ".repeat(101)), ["too_long"]);
        assert_eq!(words("ਕ"), "has 1 character after normalisation to NFC, expected 2 to 100");
        assert_eq!(
            words(&"ਕ".repeat(101)),
            "has 101 characters after normalisation to NFC, expected 2 to 100"
        );
        // A code point that becomes two in NFC counts as two.
        assert_eq!(parsed("\u{a36}").as_deref(), Ok("\u{a38}\u{a3c}"));
        assert_eq!(codes(&"\u{a59}".repeat(50)), [""; 0]);
        assert_eq!(codes(&"\u{a59}".repeat(51)), ["too_long"]);
    }

    #[test]
    fn the_error_names_each_disallowed_character_and_its_position_as_sent() {
        for (sent, start) in [
            ("ਸ਼\u{a36}ab", "has 'a' (U+0061) at position 4, 'b' (U+0062) at position 5, expected"),
            (
                "ਕ\u{202e}\"ਖ\\",
                "has '\\u{202e}' (U+202E) at position 2, '\\\\' (U+005C) at position 5, expected",
            ),
            ("ਕਖ😀", "has '😀' (U+1F600) at position 3, "),
            ("ਕ\u{200b}ਖ", "has '\\u{200b}' (U+200B) at position 2, "),
            ("ਕਖ\t", "has '\\t' (U+0009) at position 3, "),
            ("\rਕਖ", "has '\\r' (U+000D) at position 1, "),
            ("ਕ\0", "has '\\0' (U+0000) at position 2, "),
            ("ਕe\u{301}", "has 'e' (U+0065) at position 2, "),
            ("ਕ\u{301}", "has '◌\u{301}' (U+0301) at position 2, "),
            ("ਕਹिਿ", "has '◌ि' (U+093F) at position 3, "),
            ("ਕ 1", "has '1' (U+0031) at position 3, "),
            ("ਕ₹ਖ", "has '₹' (U+20B9) at position 2, "),
        ] {
            assert_eq!(codes(sent), ["character_not_allowed"], "{sent:?}");
            assert!(words(sent).starts_with(start), "{sent:?}: {}", words(sent));
        }
        let many = words(&"ਕ1".repeat(50));
        assert!(
            many.starts_with("has '1' (U+0031) at position 2, ") && many.contains("20 and 40 more, "),
            "{many}"
        );
    }

    #[test]
    fn a_text_has_figures_only_if_they_are_asked_for() {
        let with = |sent, figures| PanjabiText::parse(sent, Some(figures)).map(|text| text.0);
        let date = "15 ਅਗਸਤ 1947, ₹250";
        assert_eq!(with(date, Digits::Gurmukhi).as_deref(), Ok("੧੫ ਅਗਸਤ ੧੯੪੭, ₹੨੫੦"));
        assert_eq!(with(date, Digits::Latin).as_deref(), Ok(date));
        assert_eq!(with("5/6", Digits::Latin).as_deref(), Ok("5/6"));
        assert!(words(date).ends_with("; with the field figures (gurmukhi or latin), also 0 to 9 and ₹"));
        assert!(!words("ਕ a").contains("figures"));
        let not_allowed = PanjabiTextError::NotAllowed(vec![('x', 3)]);
        assert_eq!(with("1 x", Digits::Latin), Err(vec![not_allowed]));
        let stored = PanjabiText::parse(date, Some(Digits::Latin)).unwrap();
        assert_eq!(PanjabiText::try_from(date.to_owned()), Ok(stored));
    }

    #[test]
    fn a_message_shows_signs_and_escapes_what_is_not_seen() {
        for (text, shown) in [
            ("ਸਿੰਘ", "ਸਿੰਘ"),
            ("\u{a70}", "◌\u{a70}"),
            ("ਕ \u{a3f}\u{a02}", "ਕ ◌\u{a3f}\u{a02}"),
            ("a\u{202e}b\n\u{7f}", "a\\u{202e}b\\n\\u{7f}"),
            ("ਕ੍\u{200d}ਯ", "ਕ੍\u{200d}ਯ"),
        ] {
            assert_eq!(legible(text), shown, "{text:?}");
        }
    }

    #[test]
    fn a_text_without_a_letter_or_digit_is_a_violation() {
        for sent in ["।।", "  ", "ਿੀ", "\u{200d}\u{200d}", "\n\n", "...", "ੰੱ", "\u{a00}\u{a7f}", "ੵ੶"]
        {
            assert_eq!(codes(sent), ["no_letter"], "{sent:?}");
        }
    }

    #[test]
    fn all_violations_are_reported_together() {
        assert_eq!(codes(""), ["too_short", "no_letter"]);
        assert_eq!(codes("a"), ["too_short", "character_not_allowed", "no_letter"]);
        assert_eq!(codes(&"a".repeat(101)), ["too_long", "character_not_allowed", "no_letter"]);
        assert_eq!(codes(&"ਕ1".repeat(51)), ["too_long", "character_not_allowed"]);
    }

    #[test]
    fn the_block_has_51_letters_and_10_digits() {
        let n_letters = ('\u{a00}'..='\u{a7f}').filter(|c| is_letter_or_digit(*c)).count();
        assert_eq!(n_letters, 51 + 10);
        let no_signs = "ਁਂਃ਼ਾਿੀੁੂੇੈੋੌ੍ੑੰੱੵ੶";
        assert!(!no_signs.chars().any(is_letter_or_digit));
    }

    #[test]
    fn the_pattern_matches_exactly_the_valid_texts_in_nfc() {
        let pattern = regex::Regex::new(PATTERN).unwrap();
        for c in ('\0'..='\u{ffff}').chain(['\u{11a00}', '😀', char::MAX]) {
            // The first text is valid if the character is allowed, the second if it is also a letter or digit.
            for sent in [format!("ੳ{c}"), format!("{c}।")] {
                let parsed = PanjabiText::parse(&sent, Some(Digits::Latin));
                let passes_in_nfc = parsed.is_ok_and(|text| text.as_str() == sent);
                assert_eq!(pattern.is_match(&sent), passes_in_nfc, "{sent:?}");
            }
        }
        assert!(!pattern.is_match("") && pattern.is_match("।\nੳ\n") && pattern.is_match("੧"));
    }

    proptest! {
        #[test]
        fn an_accepted_text_obeys_all_rules_and_is_accepted_again(sent in "[\u{a00}-\u{a7f} \n।॥\u{200c}\u{200d}.;a\u{37e}\u{301}😀]{0,110}") {
            match parsed(&sent) {
                Ok(text) => {
                    prop_assert!((2..=100).contains(&text.chars().count()));
                    prop_assert!(text.chars().all(is_of_panjabi_text));
                    prop_assert!(text.chars().any(is_letter_or_digit));
                    prop_assert_eq!(parsed(&text), Ok(text.clone()));
                }
                Err(violations) => prop_assert!(!violations.is_empty()),
            }
        }

        #[test]
        fn a_character_disallowed_as_sent_is_disallowed_in_nfc(sent in "\\PC{0,5}|[\u{a00}-\u{a7f}\u{300}-\u{37f}\u{900}-\u{97f}.; ]{0,5}") {
            let in_nfc: String = sent.nfc().collect();
            prop_assert_eq!(sent.chars().all(is_allowed), in_nfc.chars().all(is_of_panjabi_text));
        }

        #[test]
        fn no_text_causes_a_panic(sent in any::<String>()) {
            let _any = parsed(&sent);
        }
    }
}
