//! A caller's file and its media type.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

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
}

impl MediaType {
    /// Every type.
    pub const ALL: [Self; 8] =
        [Self::Png, Self::Jpeg, Self::Mp3, Self::Wav, Self::Flac, Self::Ogg, Self::Mp4, Self::WebM];

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
        }
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
