//! The response of a speech recognition: text, its translation, and when it is said.

use serde::{Deserialize, Serialize};

/// What a recording says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Transcription))]
pub struct TranscriptionBody {
    /// The whole text, in Unicode's NFC; empty when there is no speech.
    #[cfg_attr(feature = "schema", schema(example = "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"))]
    pub transcription: String,
    /// The text in the other language; only with `with-translation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, example = "Hello"))]
    pub translation: Option<String>,
    /// The segments in order; only with `with-timestamps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub timestamps: Option<Vec<SegmentBody>>,
}

/// A part of the recording, with its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Segment))]
pub struct SegmentBody {
    /// Its start, in seconds from the start of the recording, to the millisecond.
    #[cfg_attr(feature = "schema", schema(example = 0.24, minimum = 0))]
    pub start: f64,
    /// Its end, in seconds from the start of the recording.
    #[cfg_attr(feature = "schema", schema(example = 1.36, minimum = 0))]
    pub end: f64,
    /// Its text.
    pub transcription: String,
    /// Its text in the other language; only with `with-translation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub translation: Option<String>,
}
