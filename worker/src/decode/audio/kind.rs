//! How a recording is written, by its first bytes, and where it ends if another one follows it in the same file.

use akhar_requests::{MediaType, sniff::adts_frame};

use super::{matroska, mp4, ogg, reader::Reader, tags};

/// How a recording is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Mp3,
    Wav,
    Flac,
    Ogg,
    Mp4,
    WebM,
    /// Frames of AAC, each with a header (ISO/IEC 14496-3, 1.A.2).
    Adts,
}

/// The first bytes of a FLAC file: its name, and the header of the block with the properties of its sound but for the bit that
/// says whether it is the last one.
const FLAC: &[u8] = b"fLaC";
const STREAM_INFO: [u8; 3] = [0, 0, 34];
/// How far before a file its tags are looked for.
const MAX_TAGS: usize = 48 * 1024;

impl Kind {
    /// The kind of recording that certainly begins here. MP3 has no certain first bytes.
    pub(super) fn at(file: &mut Reader, at: usize) -> Option<Self> {
        let head = file.head(at, 16).to_vec();
        match MediaType::of_container(&head) {
            Some(MediaType::Flac) => return Some(Self::Flac),
            Some(MediaType::Ogg) => return Some(Self::Ogg),
            Some(MediaType::Mp4) => return Some(Self::Mp4),
            Some(MediaType::WebM) => return Some(Self::WebM),
            _ => (),
        }
        if is_wav(&head) {
            return Some(Self::Wav);
        }
        let n = adts_frame(&head)?;
        adts_frame(file.head(at + n, 7)).map(|_| Self::Adts)
    }

    /// The kind of a file of this type.
    pub(super) const fn of(media_type: MediaType) -> Option<Self> {
        match media_type {
            MediaType::Mp3 => Some(Self::Mp3),
            MediaType::Wav => Some(Self::Wav),
            MediaType::Flac => Some(Self::Flac),
            MediaType::Ogg => Some(Self::Ogg),
            MediaType::Mp4 => Some(Self::Mp4),
            MediaType::WebM => Some(Self::WebM),
            MediaType::Aac => Some(Self::Adts),
            MediaType::Png | MediaType::Jpeg => None,
        }
    }

    /// Where the recording at the beginning of `file` ends. For MP3 and WAV, whose readers find that, the end of the file.
    pub(super) fn end(self, file: &mut Reader) -> usize {
        match self {
            Self::Flac => flac_end(file),
            Self::Ogg => ogg::end(file),
            Self::Mp4 => mp4::Structure::read(file).end,
            Self::WebM => matroska::Structure::read(file).end,
            Self::Mp3 | Self::Wav | Self::Adts => file.len(),
        }
    }
}

/// Whether these are the first bytes of a WAV file.
pub(super) fn is_wav(head: &[u8]) -> bool {
    matches!((head.get(..4), head.get(8..12)), (Some(b"RIFF" | b"RF64" | b"BW64"), Some(b"WAVE")))
}

/// Where the next FLAC file begins. Within a file, nothing else looks like its first bytes. The tags before it belong to it.
fn flac_end(file: &mut Reader) -> usize {
    let mut at = FLAC.len();
    while let Some(found) = file.find(FLAC, at) {
        if file.head(found + FLAC.len() + 1, 3) == STREAM_INFO {
            return tags::start_of(file, found, MAX_TAGS);
        }
        at = found + 1;
    }
    file.len()
}
