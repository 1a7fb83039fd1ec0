//! A caller's file, with its proven type.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// What an upload's first bytes say it is. The names are stored in rows: never rename one.
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

    /// The type with this IANA name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Png, Self::Jpeg, Self::Mp3, Self::Wav].into_iter().find(|t| t.name() == name)
    }
}

/// A caller's file: within the operation's size, its type proven by its first bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Proven type.
    pub media_type: MediaType,
    /// The file as received.
    pub bytes: Bytes,
}
