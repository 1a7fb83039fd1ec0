//! Finds the tags that software writes before and behind a recording of any format: their fields are text and pictures, and no
//! sound.

use super::reader::Reader;

/// The bytes at the beginning of a tag that give its length.
const HEAD: usize = 16;
/// The bytes of an ID3 tag of version 1.
const ID3V1: usize = 128;
/// The bytes of the tag that some software writes before such a tag, with longer fields ("TAG+").
const ID3V1_MORE: usize = 227;
/// The bytes of the header of an APE tag, and of its footer.
const APE: usize = 32;
/// The most bytes of lyrics, by the six digits of their length, with what encloses them.
const MAX_LYRICS: usize = 1_000_024;

/// The length of the tag that begins at `at`: an ID3 tag of the start of a file (with its pictures) or of its end, lyrics, or an
/// APE tag with a header. `None` if there is something else.
pub(super) fn length(file: &mut Reader, at: usize) -> Option<usize> {
    let n_rest = file.len().checked_sub(at)?;
    let mut head = [0; HEAD];
    let n_head = n_rest.min(HEAD);
    head[..n_head].copy_from_slice(file.head(at, n_head).get(..n_head)?);
    let n = match &head[..n_head] {
        &[b'I', b'D', b'3', _, _, flags, a, b, c, d, ..] if (a | b | c | d) < 0x80 => {
            let size = [a, b, c, d].iter().fold(0, |size, &b| size << 7 | usize::from(b));
            let footer = if flags & 0x10 == 0 { 0 } else { 10 };
            10 + size + footer
        }
        [b'T', b'A', b'G', b'+', ..] if file.head(at.saturating_add(ID3V1_MORE), 3) == b"TAG" => ID3V1_MORE,
        [b'T', b'A', b'G', ..] => ID3V1,
        [b'A', b'P', b'E', b'T', b'A', b'G', b'E', b'X', _, _, _, _, size @ ..] => {
            APE + u32::from_le_bytes(*size.first_chunk()?) as usize
        }
        head if head.starts_with(b"LYRICSBEGIN") => {
            let lyrics = file.head(at, MAX_LYRICS);
            let end =
                [b"LYRICS200", b"LYRICSEND"].into_iter().filter_map(|end| memchr::memmem::find(lyrics, end));
            end.min()? + b"LYRICS200".len()
        }
        _ => return None,
    };
    (n <= n_rest).then_some(n)
}

/// The position behind the tags that begin at `at`.
pub(super) fn skip(file: &mut Reader, at: usize) -> usize {
    let mut end = at;
    while let Some(n) = length(file, end) {
        end += n; // at least 10
    }
    end
}

/// Where the tags begin that end at `end`.
pub(super) fn before(file: &mut Reader, end: usize) -> usize {
    let mut start = end;
    while let Some(n) = length_before(file, start).filter(|n| (1..=start).contains(n)) {
        start -= n;
    }
    start
}

/// Where the ID3 tag of version 2 begins behind which `end` lies, within so many bytes; `end` if there is none.
pub(super) fn start_of(file: &mut Reader, end: usize, within: usize) -> usize {
    let first = end.saturating_sub(within);
    let before = file.get(first..end).to_vec();
    let mut starts = memchr::memmem::find_iter(&before, b"ID3").map(|at| first + at);
    starts.find(|at| skip(file, *at) == end).unwrap_or(end)
}

/// The length of the tag that ends at `end`, by the fields at its end.
fn length_before(file: &mut Reader, end: usize) -> Option<usize> {
    if tail(file, end, ID3V1)?.starts_with(b"TAG") {
        return Some(ID3V1);
    }
    if tail(file, end, ID3V1_MORE).is_some_and(|tag| tag.starts_with(b"TAG+")) {
        return Some(ID3V1_MORE);
    }
    let footer = tail(file, end, APE)?;
    if let Some([size, n_items, flags]) = footer.strip_prefix(b"APETAGEX").and_then(ape_fields) {
        let header = if flags >> 31 == 1 { APE } else { 0 };
        return (n_items > 0 || size as usize == APE).then_some(size as usize + header);
    }
    let (&id3, &lyrics) = (footer[APE - 10..].first_chunk::<10>()?, footer.last_chunk::<15>()?);
    match (id3, lyrics) {
        ([b'3', b'D', b'I', _, _, _, size @ ..], _) if size.iter().all(|b| *b < 0x80) => {
            Some(20 + size.iter().fold(0, |size, &b| size << 7 | usize::from(b)))
        }
        (_, [digits @ .., b'L', b'Y', b'R', b'I', b'C', b'S', b'2', b'0', b'0']) => {
            let n = 15 + std::str::from_utf8(&digits).ok()?.parse::<usize>().ok()?;
            tail(file, end, n)?.starts_with(b"LYRICSBEGIN").then_some(n)
        }
        (_, [.., b'L', b'Y', b'R', b'I', b'C', b'S', b'E', b'N', b'D']) => {
            let lyrics = file.get(end.saturating_sub(MAX_OLD_LYRICS)..end);
            memchr::memmem::rfind(lyrics, b"LYRICSBEGIN").map(|at| lyrics.len() - at)
        }
        _ => None,
    }
}

/// The most bytes of lyrics without a length (Lyrics3 v1), with what encloses them.
const MAX_OLD_LYRICS: usize = 5100 + 20;

/// The `n` bytes before `end`.
fn tail(file: &mut Reader, end: usize, n: usize) -> Option<&[u8]> {
    Some(file.get(end.checked_sub(n)?..end)).filter(|tail| tail.len() == n)
}

/// The size, the number of items and the flags of an APE tag, by what follows its name and version.
fn ape_fields(fields: &[u8]) -> Option<[u32; 3]> {
    let (fields, _) = fields.get(4..)?.as_chunks();
    let field = |n: usize| fields.get(n).map(|field| u32::from_le_bytes(*field));
    Some([field(0)?, field(1)?, field(2)?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{audio::allowance::tests::unpaced, job_file::Content};

    fn reader(bytes: &[u8]) -> Reader {
        Reader::new(Content::Memory(bytes.to_vec().into()), unpaced(bytes.len()))
    }

    fn length(bytes: &[u8]) -> Option<usize> {
        super::length(&mut reader(bytes), 0)
    }

    #[test]
    fn a_tag_has_its_declared_length_but_is_never_longer_than_the_file() {
        let id3 = |size: [u8; 4], n: usize| {
            let mut bytes = b"ID3\x04\0\0".to_vec();
            bytes.extend(size);
            bytes.resize(n, 0);
            bytes
        };
        assert_eq!(length(&id3([0, 0, 1, 2], 500)), Some(10 + 130));
        assert_eq!(length(&id3([0x7f; 4], 500)), None);
        assert_eq!(length(&id3([0x80, 0, 0, 0], 500)), None);
        assert_eq!(length(&[b"TAG".as_slice(), &[0; 125]].concat()), Some(128));
        assert_eq!(length(b"TAG"), None);
        assert_eq!(length(b"APETAGEX\xd0\x07\0\0\x03\0\0\0"), None);
    }

    #[test]
    fn the_tags_behind_a_recording_are_found_from_its_end() {
        let id3v1 = [b"TAG".as_slice(), &[b' '; 125]].concat();
        let more = [b"TAG+".as_slice(), &[b' '; 223]].concat();
        let ape = |version: u32, flags: u32| {
            let fields = [version, 32 + 20, 1, flags].map(u32::to_le_bytes).concat();
            [b"APETAGEX".as_slice(), &fields, &[0; 8]].concat()
        };
        let old_ape = [[b'i'; 20].as_slice(), &ape(1000, 0)].concat();
        let new_ape = [ape(2000, 0xa000_0000), vec![b'i'; 20], ape(2000, 0x8000_0000)].concat();
        let lyrics = b"LYRICSBEGININD0000200EAR00004name000036LYRICS200".to_vec();
        let n = lyrics.len() - 15;
        let lyrics = [&lyrics[..n], format!("{n:06}LYRICS200").as_bytes()].concat();
        let old_lyrics = b"LYRICSBEGIN[00:01]a wordLYRICSEND".to_vec();
        let id3v2 = [b"ID3\x04\0\x10\0\0\0\x05".as_slice(), b"12345", b"3DI\x04\0\x10\0\0\0\x05"].concat();
        for tags in [
            vec![&id3v1],
            vec![&more, &id3v1],
            vec![&old_ape, &id3v1],
            vec![&old_ape],
            vec![&new_ape],
            vec![&new_ape, &lyrics, &id3v1],
            vec![&old_lyrics, &id3v1],
            vec![&id3v2],
        ] {
            let tags = tags.into_iter().flatten().copied().collect::<Vec<u8>>();
            let bytes = [[7; 1000].as_slice(), &tags].concat();
            assert_eq!(
                before(&mut reader(&bytes), bytes.len()),
                1000,
                "{:?}",
                String::from_utf8_lossy(&tags)
            );
        }
        assert_eq!(before(&mut reader(&[7; 1000]), 1000), 1000);
        assert_eq!(before(&mut reader(b"TAG"), 3), 3);
    }
}
