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
}

impl MediaType {
    /// The IANA name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Mp3 => "audio/mpeg",
            Self::Wav => "audio/wav",
        }
    }

    /// The type with this IANA name. `None` if no accepted type has it.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Png, Self::Jpeg, Self::Mp3, Self::Wav].into_iter().find(|t| t.name() == name)
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
