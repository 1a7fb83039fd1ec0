//! Punctuation and digits as `IndicTrans2` reads them, in both languages: the first step of `IndicProcessor`.

use std::sync::LazyLock;

use super::rules::Rules;
use crate::text::latin_digit;

static PUNCTUATION: LazyLock<Rules> = LazyLock::new(|| {
    Rules::new(&[
        (r"\r", ""),
        (r"\(\s*", "("),
        (r"\s*\)", ")"),
        (r"\s:\s?", ":"),
        (r"\s;\s?", ";"),
        ("[`´‘‚’]", "'"),
        ("[„“”«»]", "\""),
        ("[–—]", "-"),
        ("\u{a0}%", "%"),
        ("nº\u{a0}", "nº "),
        ("\u{a0}ºC", " ºC"),
        ("\u{a0}([?!;])", "${1}"),
        (",\u{a0}", ", "),
        (" {2,}", " "),
        (r"\) ([.!:?;,])", ")${1}"),
        (r"(\d) %", "${1}%"),
        (r#""([,.]+)"#, "${1}\""),
        ("(\\d)\u{a0}(\\d)", "${1}.${2}"),
        (r"\s+", " "),
    ])
});

/// The text with plain quotation marks, dashes, brackets and spaces, and with Latin digits for those of Gurmukhi and
/// Devanagari.
pub(super) fn normalise(text: &str) -> String {
    let digit = |c: char| latin_digit(c, '੦').or_else(|| latin_digit(c, '०')).unwrap_or(c);
    PUNCTUATION.apply(text).trim().chars().map(digit).collect()
}
