//! Finds the media type of a file in its first bytes. The file's name and declared type are ignored.

use crate::MediaType;

/// How many of the first bytes of a file are read to find its type, if the whole file is not in memory.
pub const N_START: usize = 64 * 1024;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG: &[u8] = b"\xff\xd8\xff";

/// The type of an image. `None` if the bytes do not begin like a PNG or JPEG.
fn image(bytes: &[u8]) -> Option<MediaType> {
    if bytes.starts_with(PNG) {
        Some(MediaType::Png)
    } else if bytes.starts_with(JPEG) {
        Some(MediaType::Jpeg)
    } else {
        None
    }
}

/// The first bytes in which the frames of an MP3 may begin, if it was cut in the middle of a frame. The largest frame
/// has 1441 bytes.
const MAX_CUT_FRAME: usize = 1441;

/// The bit rates of layer 3, kbit/s: of MPEG 1, and of MPEG 2 and 2.5.
const KBPS: [[usize; 14]; 2] = [
    [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];

/// The type of a recording. `None` if the bytes do not begin like a WAV or MP3. An MP3 begins with an ID3 tag, a frame
/// of layer 3, or the rest of a frame and three whole ones. Some encoders write zeros before it.
fn audio(bytes: &[u8]) -> Option<MediaType> {
    if matches!((bytes.get(..4), bytes.get(8..12)), (Some(b"RIFF" | b"RF64" | b"BW64"), Some(b"WAVE"))) {
        return Some(MediaType::Wav);
    }
    let n_zeros = bytes.iter().take_while(|b| **b == 0).count();
    match &bytes[n_zeros..] {
        [b'I', b'D', b'3', ..] => Some(MediaType::Mp3),
        // The frame sync, a version that is not reserved, and layer 3 (ISO 11172-3, 2.4.2.3).
        [0xFF, second, ..] if second & 0xE0 == 0xE0 && second & 0x18 != 0x08 && second & 0x06 == 0x02 => {
            Some(MediaType::Mp3)
        }
        rest if (1..rest.len().min(MAX_CUT_FRAME)).any(|at| begins_with_frames(&rest[at..], 3)) => {
            Some(MediaType::Mp3)
        }
        _ => None,
    }
}

/// The type of a file. `None` if the bytes begin like none that an operation takes. ID3 tags before a recording of any type do not
/// count, as far as they are in `bytes`.
pub fn media_type(bytes: &[u8]) -> Option<MediaType> {
    let recording = behind_tags(bytes);
    image(bytes)
        .or_else(|| MediaType::of_container(recording))
        .or_else(|| audio(recording).filter(|found| *found == MediaType::Wav))
        .or_else(|| begins_with_adts(recording).then_some(MediaType::Aac))
        .or_else(|| audio(bytes))
}

/// Whether a frame of AAC with a header begins here, and another one behind it.
fn begins_with_adts(bytes: &[u8]) -> bool {
    adts_frame(bytes).and_then(|n| adts_frame(bytes.get(n..)?)).is_some()
}

/// The length of the frame of AAC whose header begins here (ISO/IEC 14496-3, 1.A.2). `None` if none does.
pub fn adts_frame(head: &[u8]) -> Option<usize> {
    let &[sync, kind, rate, high, middle, low, _] = head.first_chunk()?;
    let is_header = sync == 0xff && kind & 0xf6 == 0xf0 && (rate >> 2) & 0xf < 13;
    let n = usize::from(high & 3) << 11 | usize::from(middle) << 3 | usize::from(low >> 5);
    (is_header && n > 7).then_some(n)
}

/// What follows the tags at the beginning (id3.org, ID3 tag version 2.4.0, 3.1): each says in 7 bits of four bytes how long it is.
fn behind_tags(mut bytes: &[u8]) -> &[u8] {
    while let &[b'I', b'D', b'3', _, _, flags, a, b, c, d, ..] = bytes {
        let n = [a, b, c, d].iter().fold(0, |n, b| n << 7 | usize::from(b & 0x7f));
        let n_footer = if flags & 0x10 == 0 { 0 } else { 10 };
        bytes = bytes.get(10 + n + n_footer..).unwrap_or_default();
    }
    bytes
}

/// Whether the bytes begin with `n` whole frames of layer 3, whose headers name the same version and sampling rate.
fn begins_with_frames(bytes: &[u8], n: usize) -> bool {
    let mut at = 0;
    let same = |at: usize| Some((bytes.get(at + 1)? & 0xFE, bytes.get(at + 2)? & 0x0C));
    (0..n).all(|_| {
        let is_same = same(at) == same(0);
        let length = bytes.get(at..).and_then(frame_length);
        at += length.unwrap_or(0);
        is_same && length.is_some() && at <= bytes.len()
    })
}

/// The length of the frame that begins here (ISO 11172-3, 2.4.2.3). `None` if none does.
fn frame_length(bytes: &[u8]) -> Option<usize> {
    let &[0xFF, kind, rates, _] = bytes.first_chunk()? else { return None };
    // The sampling rates of MPEG 2 are half of those of MPEG 1, and those of MPEG 2.5 a quarter.
    let halvings = match kind & 0b1111_1110 {
        0b1111_1010 => 0,
        0b1111_0010 => 1,
        0b1110_0010 => 2,
        _ => return None,
    };
    let rate = [44_100, 48_000, 32_000].get(usize::from(rates >> 2) & 0b11)? >> halvings;
    let kbps = KBPS[halvings.min(1)].get(usize::from(rates >> 4).checked_sub(1)?)?;
    let n_samples = if halvings == 0 { 1152 } else { 576 };
    Some(kbps * 1000 / 8 * n_samples / rate + usize::from(rates & 0b10 != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_type_is_found_in_the_first_bytes() {
        assert_eq!(image(b"\x89PNG\r\n\x1a\nrest"), Some(MediaType::Png));
        assert_eq!(image(b"\xff\xd8\xff\xe0rest"), Some(MediaType::Jpeg));
        for other in [&b""[..], b"\x89PNG", b"\xff\xd8", b"GIF89a", b"RIFF", b"<svg", b" \x89PNG\r\n\x1a\n"] {
            assert_eq!(image(other), None);
        }
    }

    #[test]
    fn an_audio_type_is_found_in_the_first_bytes() {
        for wav in
            [&b"RIFF\x24\0\0\0WAVEfmt "[..], b"RF64\xff\xff\xff\xffWAVEds64", b"BW64\xff\xff\xff\xffWAVEds64"]
        {
            assert_eq!(audio(wav), Some(MediaType::Wav));
        }
        for mp3 in
            [&b"ID3\x04\0"[..], b"\xff\xfb\x90\x64", b"\xff\xf3\x18", b"\xff\xe3\x18", b"\0\0\xff\xfa\x90"]
        {
            assert_eq!(audio(mp3), Some(MediaType::Mp3), "{mp3:?}");
        }
        let frame = [b"\xff\xfb\x90\x64".as_slice(), &[7; 413]].concat(); // 128 kbit/s, 44.1 kHz
        let cut = |n: usize| [&frame[417 - n..], &frame.repeat(3)].concat();
        for n in [1, 4, 413, 416] {
            assert_eq!(audio(&cut(n)), Some(MediaType::Mp3), "{n}");
        }
        assert_eq!(audio(&cut(400)[..1500]), None, "two whole frames may be chance");
        for (bytes, media_type) in [
            (&b"fLaC\0"[..], MediaType::Flac),
            (b"OggS\0", MediaType::Ogg),
            (b"\x1a\x45\xdf\xa3\x9f", MediaType::WebM),
            (b"\0\0\0\x20ftypM4A ", MediaType::Mp4),
            (b"ID3\x04\0", MediaType::Mp3),
            (b"ID3\x04\0\0\0\0\0\x02..fLaC\0", MediaType::Flac),
            (b"ID3\x04\0\x10\0\0\0\0..........ID3\x03\0\0\0\0\0\x01.OggS\0", MediaType::Ogg),
            (b"ID3\x03\0\0\0\0\0\0RIFF\x24\0\0\0WAVEfmt ", MediaType::Wav),
            (b"ID3\x03\0\0\0\0\0\0\xff\xf1\x60\x40", MediaType::Mp3),
            (b"\xff\xf1\x60\x40\x01\x1f\xfc.\xff\xf1\x60\x40\x01\x1f\xfc.", MediaType::Aac),
            (
                b"ID3\x03\0\0\0\0\0\0\xff\xf1\x60\x40\x01\x1f\xfc.\xff\xf1\x60\x40\x01\x1f\xfc.",
                MediaType::Aac,
            ),
            (b"ID3\x03\0\0\0\0\x7f\x7f\0\0\0\x20ftypM4A ", MediaType::Mp3),
        ] {
            assert_eq!(super::media_type(bytes), Some(media_type));
        }
        for other in
            [&b""[..], b"RIFF\0\0\0\0AVI ", b"OggS", b"fLaC", b"\xff\xd8\xff\xe0", b"\xff\xf9\x50", b"\0\0"]
        {
            assert_eq!(audio(other), None, "{other:?}");
        }
    }
}
