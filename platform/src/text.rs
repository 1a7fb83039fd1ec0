//! Text that people send or keep in files: UTF-8, with or without a byte order mark, as some editors write it.

use std::{
    fs,
    io::{self, BufRead},
    path::Path,
};

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Why bytes are not text. Shown, it is the end of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    /// They are in an encoding with two bytes for each character.
    #[error("is UTF-16, expected UTF-8")]
    Utf16,
    /// They are in another encoding, or no text.
    #[error("is not valid UTF-8: byte {0} is invalid")]
    Invalid(usize),
}

impl From<NotText> for io::Error {
    fn from(error: NotText) -> Self {
        Self::new(io::ErrorKind::InvalidData, format!("it {error}"))
    }
}

/// The text of these bytes, without its byte order mark.
pub fn decode(bytes: &[u8]) -> Result<&str, NotText> {
    if is_utf16(bytes) {
        return Err(NotText::Utf16);
    }
    let text = bytes.strip_prefix(MARK).unwrap_or(bytes);
    str::from_utf8(text).map_err(|error| NotText::Invalid(bytes.len() - text.len() + error.valid_up_to() + 1))
}

/// The text of a file, without its byte order mark.
pub fn read(path: &Path) -> io::Result<String> {
    Ok(decode(&fs::read(path)?)?.to_owned())
}

/// Skips the byte order mark at the beginning of an input. Fails if it begins as UTF-16 does.
pub fn skip_mark(input: &mut impl BufRead) -> io::Result<()> {
    let start = input.fill_buf()?;
    if is_utf16(start) {
        return Err(NotText::Utf16.into());
    }
    let has_mark = start.starts_with(MARK);
    input.consume(if has_mark { MARK.len() } else { 0 });
    Ok(())
}

/// Whether bytes begin with a byte order mark of UTF-16, or with half of an ASCII character in it.
const fn is_utf16(bytes: &[u8]) -> bool {
    matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [0, _, ..] | [_, 0, ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_no_text() {
        assert_eq!(decode("\u{feff}ਅੱਖਰ".as_bytes()), Ok("ਅੱਖਰ"));
        assert_eq!(decode(b""), Ok(""));
        assert_eq!(decode(b"\xef\xbb"), Err(NotText::Invalid(1)));
        assert_eq!(decode(b"\xef\xbb\xbfab\xff"), Err(NotText::Invalid(6)));
        let mut input = "\u{feff}x\n\u{feff}y".as_bytes();
        skip_mark(&mut input).unwrap();
        assert_eq!(input, "x\n\u{feff}y".as_bytes());
    }

    #[test]
    fn utf16_is_named() {
        for bytes in [&b"\xff\xfea\0"[..], b"\xfe\xff\0a", b"a\0b\0", b"\0a\0b"] {
            assert_eq!(decode(bytes), Err(NotText::Utf16));
            let error = skip_mark(&mut &*bytes).unwrap_err().to_string();
            assert_eq!(error, "it is UTF-16, expected UTF-8");
        }
    }
}
