//! The pieces of a word, as rows of the table of the tagger.

use crate::text::continues_a_word;

/// Pieces of a word at most.
pub(super) const N_PIECES: usize = 24;
/// Rows of the table without that of no piece.
const N_ROWS: u32 = 20_479;

/// The rows of a word: of the whole word, and of its pieces of three and four letters from its end. Rows behind the last
/// one are 0.
pub(super) fn rows(word: &str) -> [i32; N_PIECES] {
    let letters: Vec<char> = format!("^{}$", plain(word)).chars().collect();
    let n = letters.len();
    let pieces = (1..=n).rev().flat_map(|end| [3, 4].map(|size| (end, size)));
    let pieces =
        pieces.filter(|(end, size)| size <= end && *size < n).map(|(end, size)| &letters[end - size..end]);
    let mut rows = [0; N_PIECES];
    for (row, piece) in rows.iter_mut().zip([&letters[..]].into_iter().chain(pieces)) {
        *row = self::row(piece);
    }
    rows
}

/// A word in lower case, of letters, marks and digits, and apostrophes between letters.
fn plain(word: &str) -> String {
    let word = word.to_lowercase().replace('’', "'");
    let kept: String = word.chars().filter(|c| *c == '\'' || continues_a_word(*c)).collect();
    kept.trim_matches('\'').to_owned()
}

/// FNV-1a (32 bits) of a piece's UTF-8 bytes, as a row.
fn row(piece: &[char]) -> i32 {
    let text: String = piece.iter().collect();
    let hash =
        text.bytes().fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    i32::try_from(1 + hash % N_ROWS).unwrap_or_default()
}
