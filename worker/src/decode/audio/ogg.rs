//! Reads what symphonia leaves out of Ogg files (RFC 3533): where the next file of a chain begins, and the codecs that are not
//! decoded.

use super::reader::{Position, Reader};
use crate::decode::undecodable::Undecodable;

/// The first bytes of a page.
const CAPTURE: &[u8] = b"OggS";
/// The bytes of the header of a page before its table of segments.
const HEADER: usize = 27;
/// The flag of the first page of a stream.
const BEGINS: u8 = 2;

/// A page.
struct Page {
    /// Whether a stream begins with it.
    begins: bool,
    content: usize,
    end: usize,
}

impl Page {
    fn at(file: &mut Reader, at: usize) -> Option<Self> {
        let head = file.head(at, HEADER);
        let (flags, n_segments) = (*head.get(5)?, usize::from(*head.get(26)?));
        if !head.starts_with(CAPTURE) {
            return None;
        }
        let content = at + HEADER + n_segments;
        let segments = file.get(at + HEADER..content);
        let end = content + segments.iter().map(|n| usize::from(*n)).sum::<usize>();
        Some(Self { begins: flags & BEGINS != 0, content, end })
    }
}

/// Where the first file of a chain ends: the first pages of its streams come before all others (RFC 3533, 4).
pub(super) fn end(file: &mut Reader) -> usize {
    let mut at = Position::at(0);
    let mut has_begun = false;
    while at.get() < file.len() {
        let Some(page) = Page::at(file, at.get()) else {
            let Some(next) = file.find(CAPTURE, at.get() + 1) else { break };
            at.pass_to(next);
            continue;
        };
        if page.begins && has_begun {
            return at.get();
        }
        has_begun |= !page.begins;
        at.pass_to(page.end);
    }
    file.len()
}

/// Refuses a file of which no stream has a codec that is decoded, and one has a known one.
pub(super) fn check_codecs(file: &mut Reader) -> Result<(), Undecodable> {
    let mut unsupported = None;
    let mut at = Position::at(0);
    while let Some(page) = Page::at(file, at.get()).filter(|page| page.begins) {
        match file.get(page.content..page.end.min(page.content + 19)) {
            [b'S', b'p', b'e', b'e', b'x', b' ', ..] => unsupported = Some("Speex".to_owned()),
            // The mapping of channels (RFC 7845, 5.1.1).
            [b'O', b'p', b'u', b's', b'H', b'e', b'a', b'd', .., family] if *family > 1 => {
                unsupported = Some(format!("Opus with the channel mapping family {family}"));
            }
            [b'O', b'p', b'u', b's', b'H', b'e', b'a', b'd', ..]
            | [1, b'v', b'o', b'r', b'b', b'i', b's', ..]
            | [0x7f, b'F', b'L', b'A', b'C', ..] => return Ok(()),
            _ => (),
        }
        at.pass_to(page.end);
    }
    unsupported.map_or(Ok(()), |codec| {
        let detail =
            format!("the file's codec, {codec}, is not supported: expected FLAC, Opus or Vorbis in Ogg");
        Err(Undecodable::new("unsupported_codec", detail))
    })
}
