//! What a word of a text consists of.

use unicode_normalization::char::is_combining_mark;

/// Whether the character continues a word: a letter, a digit, a mark or an underscore.
pub(crate) fn continues_a_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric() || is_combining_mark(c)
}
