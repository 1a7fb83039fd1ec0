//! Reads the parts of an mp3 file that are not sound: the tags of encoders, and metadata.

use super::header::Header;
use crate::decode::audio::reader::Reader;

/// The delay of a decoder's filter bank in samples, as LAME's tag counts it.
const DECODER_DELAY: u32 = 528 + 1;

/// The tag that an encoder puts into the first frame instead of sound: Xing's, LAME's or Fraunhofer's.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tag {
    /// The number of frames after this one.
    pub(super) n_frames: Option<u32>,
    /// The number of samples at the start that do not belong to the sound.
    pub(super) lead: u32,
    /// The number of samples at the end that do not belong to the sound.
    pub(super) rest: u32,
}

impl Tag {
    /// Reads the tag in a frame; `None` if the frame has none.
    pub(super) fn read(frame: &[u8], header: &Header) -> Option<Self> {
        // The fields of Fraunhofer's tag: version, delay, quality, bytes, frames.
        if let Some([b'V', b'B', b'R', b'I', _, _, _, _, _, _, _, _, _, _, n @ ..]) =
            frame.get(36..).and_then(<[u8]>::first_chunk::<18>)
        {
            return Some(Self { n_frames: Some(u32::from_be_bytes(*n)), ..Self::default() });
        }
        let tag = frame.get(header.tag_at..)?;
        if !matches!(tag.first_chunk(), Some(b"Xing" | b"Info")) {
            return None;
        }
        let flags = u32::from_be_bytes(*tag.get(4..)?.first_chunk()?);
        let is_set = |bit: u32| flags & (1 << bit) != 0;
        let field = |bit: u32, length: usize| if is_set(bit) { length } else { 0 };
        let n_frames = if is_set(0) { tag.get(8..).and_then(<[u8]>::first_chunk) } else { None };
        let lame = 8 + field(0, 4) + field(1, 4) + field(2, 100) + field(3, 4);
        let n_frames = n_frames.map(|n| u32::from_be_bytes(*n));
        let (lead, rest) = tag.get(lame..).and_then(delays).unwrap_or_default();
        Some(Self { n_frames, lead, rest })
    }
}

/// The delays that some encoders (LAME, Lavf, Lavc) add to Xing's tag: two numbers of twelve bits, 21 bytes
/// after the beginning of the encoder's name. Returns the samples to leave out at the start and at the end.
fn delays(lame: &[u8]) -> Option<(u32, u32)> {
    if !matches!(lame.first_chunk(), Some(b"LAME" | b"Lavf" | b"Lavc")) {
        return None;
    }
    let [a, b, c] = lame.get(21..)?.first_chunk()?.map(u32::from);
    let (delay, padding) = (a << 4 | b >> 4, (b & 0xf) << 8 | c);
    Some((delay + DECODER_DELAY, padding.saturating_sub(DECODER_DELAY)))
}

/// The bytes at the beginning of metadata that give its length.
const METADATA_HEAD: usize = 16;

/// The length of the metadata at `at`: an ID3 tag of the start of a file (with its
/// pictures) or of its end, or an APE tag. `None` if there is something else.
pub(super) fn metadata(file: &mut Reader, at: usize) -> Option<usize> {
    let n_rest = file.len().checked_sub(at)?;
    let n = match file.head(at, METADATA_HEAD) {
        &[b'I', b'D', b'3', _, _, flags, a, b, c, d, ..] if (a | b | c | d) < 0x80 => {
            let size = [a, b, c, d].iter().fold(0, |size, &b| size << 7 | usize::from(b));
            let footer = if flags & 0x10 == 0 { 0 } else { 10 };
            10 + size + footer
        }
        [b'T', b'A', b'G', ..] => 128,
        [b'A', b'P', b'E', b'T', b'A', b'G', b'E', b'X', _, _, _, _, size @ ..] => {
            32 + u32::from_le_bytes(*size.first_chunk()?) as usize
        }
        _ => return None,
    };
    (n <= n_rest).then_some(n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{audio::allowance::tests::unpaced, job_file::Content};

    fn metadata(bytes: &[u8]) -> Option<usize> {
        super::metadata(&mut Reader::new(Content::Memory(bytes.to_vec().into()), unpaced(bytes.len())), 0)
    }

    #[test]
    fn metadata_has_its_declared_length_but_is_never_longer_than_the_file() {
        let id3 = |size: [u8; 4], n: usize| {
            let mut bytes = b"ID3\x04\0\0".to_vec();
            bytes.extend(size);
            bytes.resize(n, 0);
            bytes
        };
        assert_eq!(metadata(&id3([0, 0, 1, 2], 500)), Some(10 + 130));
        assert_eq!(metadata(&id3([0x7f; 4], 500)), None);
        assert_eq!(metadata(&id3([0x80, 0, 0, 0], 500)), None);
        assert_eq!(metadata(&[b"TAG".as_slice(), &[0; 125]].concat()), Some(128));
        assert_eq!(metadata(b"TAG"), None);
        assert_eq!(metadata(b"APETAGEX\xd0\x07\0\0\x03\0\0\0"), None);
    }
}
