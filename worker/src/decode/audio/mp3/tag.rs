//! Reads the tags that encoders put into the first frame of an mp3 file instead of sound.

use super::header::Header;

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
