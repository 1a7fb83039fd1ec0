//! What a word of a text consists of, and its digits in Latin.

use unicode_normalization::char::is_combining_mark;

/// Whether the character continues a word: a letter, a digit, a mark or an underscore.
pub(crate) fn continues_a_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric() || is_combining_mark(c)
}

/// The Latin digit of a digit in the script whose digits begin with `zero`; `None` for other characters.
pub(crate) fn latin_digit(c: char, zero: char) -> Option<char> {
    char::from_digit(u32::from(c).checked_sub(u32::from(zero))?, 10)
}
