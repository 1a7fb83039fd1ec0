//! What a file is: its first bytes come in, its media type goes out.

use akhar_jobs::MediaType;

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG: &[u8] = b"\xff\xd8\xff";

/// The image type these bytes begin as, whatever the file's name or declared type.
pub(crate) fn image(bytes: &[u8]) -> Option<MediaType> {
    if bytes.starts_with(PNG) {
        Some(MediaType::Png)
    } else if bytes.starts_with(JPEG) {
        Some(MediaType::Jpeg)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_decide() {
        assert_eq!(image(b"\x89PNG\r\n\x1a\nrest"), Some(MediaType::Png));
        assert_eq!(image(b"\xff\xd8\xff\xe0rest"), Some(MediaType::Jpeg));
        for other in [&b""[..], b"\x89PNG", b"\xff\xd8", b"GIF89a", b"RIFF", b"<svg", b" \x89PNG\r\n\x1a\n"] {
            assert_eq!(image(other), None);
        }
    }
}
