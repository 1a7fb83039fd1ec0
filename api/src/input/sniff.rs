//! Finds the media type of a file in its first bytes. The file's name and declared type are ignored.

use akhar_jobs::MediaType;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG: &[u8] = b"\xff\xd8\xff";

/// The type of an image. `None` if the bytes do not begin like a PNG or JPEG.
pub(crate) fn image(bytes: &[u8]) -> Option<MediaType> {
    if bytes.starts_with(PNG) {
        Some(MediaType::Png)
    } else if bytes.starts_with(JPEG) {
        Some(MediaType::Jpeg)
    } else {
        None
    }
}

/// The type of a recording. `None` if the bytes do not begin like a WAV or MP3. An MP3 begins with an ID3 tag or a
/// frame of layer 3. Some encoders write zeros before it.
pub(crate) fn audio(bytes: &[u8]) -> Option<MediaType> {
    if matches!(bytes, [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'A', b'V', b'E', ..])
        || matches!(bytes, [b'R', b'F', b'6', b'4', _, _, _, _, b'W', b'A', b'V', b'E', ..])
    {
        return Some(MediaType::Wav);
    }
    let n_zeros = bytes.iter().take_while(|b| **b == 0).count();
    match &bytes[n_zeros..] {
        [b'I', b'D', b'3', ..] => Some(MediaType::Mp3),
        // The frame sync, a version that is not reserved, and layer 3 (ISO 11172-3, 2.4.2.3).
        [0xFF, second, ..] if second & 0xE0 == 0xE0 && second & 0x18 != 0x08 && second & 0x06 == 0x02 => {
            Some(MediaType::Mp3)
        }
        _ => None,
    }
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
        for wav in [&b"RIFF\x24\0\0\0WAVEfmt "[..], b"RF64\xff\xff\xff\xffWAVEds64"] {
            assert_eq!(audio(wav), Some(MediaType::Wav));
        }
        for mp3 in
            [&b"ID3\x04\0"[..], b"\xff\xfb\x90\x64", b"\xff\xf3\x18", b"\xff\xe3\x18", b"\0\0\xff\xfa\x90"]
        {
            assert_eq!(audio(mp3), Some(MediaType::Mp3), "{mp3:?}");
        }
        for other in
            [&b""[..], b"RIFF\0\0\0\0AVI ", b"OggS", b"fLaC", b"\xff\xd8\xff\xe0", b"\xff\xf9\x50", b"\0\0"]
        {
            assert_eq!(audio(other), None, "{other:?}");
        }
    }
}
