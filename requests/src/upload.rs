//! A caller's file and its media type.

use akhar_jobs::{JobUpload, UploadContent};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// The longest recording in a request that workers transcribe, seconds.
pub const MAX_RECORDING_S: u32 = 3600;

/// The longest recording that workers fetch and transcribe, seconds. It is read from disk, so its length needs no memory. But
/// it has a place of its worker for as long as it is transcribed.
pub const MAX_FETCHED_S: u32 = 4 * 3600;

/// The media type of an upload, as found in its first bytes. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MediaType {
    /// PNG.
    #[serde(rename = "image/png")]
    Png,
    /// JPEG.
    #[serde(rename = "image/jpeg")]
    Jpeg,
    /// MPEG audio, layer 3.
    #[serde(rename = "audio/mpeg")]
    Mp3,
    /// RIFF WAVE.
    #[serde(rename = "audio/wav")]
    Wav,
    /// FLAC.
    #[serde(rename = "audio/flac")]
    Flac,
    /// Ogg, with Opus, Vorbis or FLAC in it.
    #[serde(rename = "audio/ogg")]
    Ogg,
    /// MPEG-4 (m4a, mp4), with AAC in it.
    #[serde(rename = "audio/mp4")]
    Mp4,
    /// WebM or Matroska, with Opus or Vorbis in it.
    #[serde(rename = "audio/webm")]
    WebM,
    /// AAC without a container: frames with a header each (ADTS), as some phones record.
    #[serde(rename = "audio/aac")]
    Aac,
}

impl MediaType {
    /// Every type.
    pub const ALL: [Self; 9] = [
        Self::Png,
        Self::Jpeg,
        Self::Mp3,
        Self::Wav,
        Self::Flac,
        Self::Ogg,
        Self::Mp4,
        Self::WebM,
        Self::Aac,
    ];

    /// The IANA name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Mp3 => "audio/mpeg",
            Self::Wav => "audio/wav",
            Self::Flac => "audio/flac",
            Self::Ogg => "audio/ogg",
            Self::Mp4 => "audio/mp4",
            Self::WebM => "audio/webm",
            Self::Aac => "audio/aac",
        }
    }

    /// The types of images.
    pub const IMAGES: &[Self] = &[Self::Png, Self::Jpeg];
    /// The types of recordings that every operation on recordings takes.
    pub const MP3_AND_WAV: &[Self] = &[Self::Mp3, Self::Wav];
    /// The types of recordings that can be decoded.
    pub const RECORDINGS: &[Self] =
        &[Self::Mp3, Self::Wav, Self::Flac, Self::Ogg, Self::Mp4, Self::WebM, Self::Aac];

    /// The format as people know it, with the codecs that it may have.
    pub const fn format(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Mp3 => "MP3",
            Self::Wav => "WAV",
            Self::Flac => "FLAC",
            Self::Ogg => "Ogg (Opus, Vorbis, FLAC)",
            Self::Mp4 => "MPEG-4 (AAC)",
            Self::WebM => "WebM (Opus, Vorbis)",
            Self::Aac => "AAC",
        }
    }

    /// Formats in words: "PNG or JPEG".
    pub fn formats(types: &[Self]) -> String {
        let formats: Vec<&str> = types.iter().map(|media_type| media_type.format()).collect();
        formats
            .split_last()
            .map_or_else(String::new, |(last, others)| format!("{} or {last}", others.join(", ")))
    }

    /// The type of a file in a container of several codecs, by its first bytes. `None` if they are not those of one.
    pub fn of_container(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [b'f', b'L', b'a', b'C', ..] => Some(Self::Flac),
            [b'O', b'g', b'g', b'S', ..] => Some(Self::Ogg),
            // The header of EBML, in which WebM and Matroska are written.
            [0x1A, 0x45, 0xDF, 0xA3, ..] => Some(Self::WebM),
            [_, _, _, _, b'f', b't', b'y', b'p', ..] => Some(Self::Mp4),
            _ => None,
        }
    }

    /// The type with this IANA name. `None` if no accepted type has it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }
}

/// A caller's file. Its size is within the operation's limit, and its first bytes are those of its media type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// The type that the first bytes show.
    pub media_type: MediaType,
    /// The bytes as received.
    pub bytes: Bytes,
}

impl From<Upload> for JobUpload {
    fn from(upload: Upload) -> Self {
        Self { media_type: upload.media_type.name().to_owned(), content: UploadContent::Row(upload.bytes) }
    }
}
