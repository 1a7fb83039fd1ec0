//! A recording to transcribe, and the fields of the request.

use std::fmt;

use bytes::Bytes;
use uuid::Uuid;

use crate::subtitles::Layout;

/// A recording to transcribe.
#[derive(Clone)]
pub enum RecordingSource {
    /// The bytes of a file.
    File(Bytes),
    /// A URL from which the server fetches the recording.
    Url(String),
    /// A recording in the server's bucket: see [`Client::upload`](crate::Client::upload).
    Upload(Uuid),
}

impl From<Bytes> for RecordingSource {
    fn from(bytes: Bytes) -> Self {
        Self::File(bytes)
    }
}

impl From<Vec<u8>> for RecordingSource {
    fn from(bytes: Vec<u8>) -> Self {
        Self::File(bytes.into())
    }
}

impl fmt::Debug for RecordingSource {
    /// Leaves out what it has, because the query of a URL can be a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File(_) => "File",
            Self::Url(_) => "Url",
            Self::Upload(_) => "Upload",
        })
    }
}

/// The fields of a speech recognition request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the request")]
pub struct SpeechRequest {
    /// The spoken language, `pa` or `en`, or `auto` to have it detected. `None` means the server's default.
    pub lang: Option<String>,
    /// Whether to translate the text into the other language.
    pub with_translation: bool,
    /// Whether to return the segments with their times.
    pub with_timestamps: bool,
    /// Whether each segment has its words with their times. Needs `with_timestamps`.
    pub with_words: bool,
    /// Whether to return how likely the text, its segments and its words are right.
    pub with_confidence: bool,
    /// The digits of numbers, `latin` or `gurmukhi`, if they are written in figures. `None`: they are written as they are
    /// spoken.
    pub written: Option<String>,
    /// The script of Panjabi texts: `gurmukhi`, `latin` or `shahmukhi`. `None` means the server's default.
    pub script: Option<String>,
    /// Whether each channel of the recording is transcribed by itself.
    pub split_channels: bool,
    /// The size of subtitles that are made of the job's result. `None` means the server's default.
    pub subtitles: Option<Layout>,
    /// Terms that the recording is likely to have, such as names.
    pub keyterms: Vec<String>,
    /// The `Idempotency-Key`: 1 to 255 visible ASCII characters. For 24 hours, requests with the same key, fields and
    /// recording share one job. Only requests with a key are repeated after an error: see [`Client::retrying`](crate::Client::retrying).
    pub idempotency_key: Option<String>,
}
