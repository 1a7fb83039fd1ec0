//! Pieces: a `tokenizer.bin`, as Moonshine is published with, comes in; the text of tokens comes out.

use std::ops::Range;

/// Stands for a space, in a piece.
const SPACE: char = '▁';
/// The tokens that stand for the bytes 0 to 255, of characters that no piece has.
const BYTES: Range<usize> = 3..259;

/// The pieces of text that a model generates, by token.
pub(super) struct Pieces {
    pieces: Vec<Piece>,
}

enum Piece {
    Text(String),
    Byte(u8),
    /// Such as `</s>`: no text.
    Special(String),
}

impl Pieces {
    /// Reads the file: the pieces in the order of their tokens, each behind its length in bytes. A length below
    /// 128 is one byte, a longer one two: `second * 128 + first - 128`.
    pub(super) fn parse(mut bytes: &[u8]) -> Result<Self, String> {
        let mut pieces = Vec::new();
        while !bytes.is_empty() {
            let (piece, rest) = first_piece(bytes).ok_or("it ends within a piece")?;
            let token = pieces.len();
            pieces.push(Piece::new(token, piece).ok_or_else(|| format!("token {token} is {piece:?}"))?);
            bytes = rest;
        }
        if pieces.len() < BYTES.end {
            return Err(format!("it has {} pieces, expected more than {}", pieces.len(), BYTES.end));
        }
        Ok(Self { pieces })
    }

    /// The token that is written so, if there is one.
    pub(super) fn find(&self, token: &str) -> Option<i64> {
        let is_it =
            |piece: &Piece| matches!(piece, Piece::Text(text) | Piece::Special(text) if text == token);
        self.pieces.iter().position(is_it).and_then(|id| i64::try_from(id).ok())
    }

    /// The tokens that are text, with it.
    pub(super) fn texts(&self) -> impl Iterator<Item = (i64, &str)> {
        (0..).zip(&self.pieces).filter_map(|(id, piece)| match piece {
            Piece::Text(text) => Some((id, text.as_str())),
            Piece::Byte(_) | Piece::Special(_) => None,
        })
    }

    /// The tokens of whose characters one is a figure.
    pub(super) fn figures(&self, is_figure: impl Fn(char) -> bool + Copy) -> impl Iterator<Item = i64> {
        let has_figure = move |piece: &Piece| match piece {
            Piece::Text(text) => text.contains(is_figure),
            Piece::Byte(byte) => is_figure(char::from(*byte)) && byte.is_ascii(),
            Piece::Special(_) => false,
        };
        (0..).zip(&self.pieces).filter(move |(_, piece)| has_figure(piece)).map(|(id, _)| id)
    }

    /// The text of tokens, special ones left out. Bytes that make no character become one `\u{fffd}` each.
    pub(super) fn text(&self, tokens: &[i64]) -> String {
        let mut text = String::new();
        let mut bytes = Vec::new();
        for token in tokens {
            match usize::try_from(*token).ok().and_then(|id| self.pieces.get(id)) {
                Some(Piece::Text(piece)) => {
                    end_bytes(&mut text, &mut bytes);
                    text.extend(piece.chars().map(|c| if c == SPACE { ' ' } else { c }));
                }
                Some(Piece::Byte(byte)) => bytes.push(*byte),
                Some(Piece::Special(_)) | None => (),
            }
        }
        end_bytes(&mut text, &mut bytes);
        text.strip_prefix(' ').map(str::to_owned).unwrap_or(text)
    }
}

impl Piece {
    fn new(token: usize, piece: &[u8]) -> Option<Self> {
        if BYTES.contains(&token) {
            let byte = u8::try_from(token - BYTES.start).ok()?;
            return (piece == [byte]).then_some(Self::Byte(byte));
        }
        let text = String::from_utf8(piece.to_vec()).ok()?;
        let is_special = token < BYTES.start || (text.starts_with("<<ST_") && text.ends_with(">>"));
        Some(if is_special { Self::Special(text) } else { Self::Text(text) })
    }
}

/// The first piece, and what is behind it; none where the file ends within the piece.
fn first_piece(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    if first < 128 {
        return rest.split_at_checked(usize::from(first));
    }
    let (&second, rest) = rest.split_first()?;
    rest.split_at_checked(usize::from(second) * 128 + usize::from(first) - 128)
}

/// Appends the character or characters that a run of bytes stands for.
fn end_bytes(text: &mut String, bytes: &mut Vec<u8>) {
    match str::from_utf8(bytes) {
        Ok(characters) => text.push_str(characters),
        Err(_) => text.extend(bytes.iter().map(|_| char::REPLACEMENT_CHARACTER)),
    }
    bytes.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The special tokens, the bytes, and these pieces.
    fn file(more: &[&str]) -> Vec<u8> {
        let mut file = Vec::new();
        let special = ["<unk>", "<s>", "</s>"].map(|piece| piece.as_bytes().to_vec());
        let bytes = (0..=u8::MAX).map(|byte| vec![byte]);
        let more = more.iter().map(|piece| piece.as_bytes().to_vec());
        for piece in special.into_iter().chain(bytes).chain(more) {
            let length = piece.len();
            match u8::try_from(length) {
                Ok(short @ 0..128) => file.push(short),
                _ => file.extend([length % 128 + 128, length / 128].map(|n| u8::try_from(n).unwrap())),
            }
            file.extend(piece);
        }
        file
    }

    #[test]
    fn pieces_bytes_and_special_tokens_make_a_text() {
        let long = "x".repeat(300);
        let pieces = Pieces::parse(&file(&["▁a", "b", "", &long, "<<ST_0>>"])).unwrap();
        assert_eq!(pieces.text(&[1, 259, 260, 259, 261, 263, 2]), "ab a");
        assert_eq!(pieces.text(&[262]), long);
        assert_eq!(pieces.text(&[260, 3 + 0xe0, 3 + 0xa8, 3 + 0x95, 260]), "bਕb");
        assert_eq!(pieces.text(&[3 + 0xe0, 3 + 0x41, 260]), "\u{fffd}\u{fffd}b");
        assert_eq!(pieces.text(&[-1, 9999]), "");
        assert_eq!((pieces.find("</s>"), pieces.find("▁a"), pieces.find("c")), (Some(2), Some(259), None));
    }

    #[test]
    fn a_file_cut_short_or_in_another_order_is_refused() {
        let whole = file(&["▁a", &"x".repeat(300)]);
        for cut in [1, 299, 301, 302] {
            let refused = Pieces::parse(&whole[..whole.len() - cut]).is_err();
            assert_eq!(refused, cut < 302, "cut by {cut}");
        }
        assert!(Pieces::parse(&file(&[])[..20]).is_err());
        let mut swapped = file(&["▁a"]);
        swapped.swap(16, 18);
        assert!(Pieces::parse(&swapped).is_err());
    }
}
