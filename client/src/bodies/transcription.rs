//! The response of speech recognition: the text, its translation and its segments.

use serde::{Deserialize, Serialize};

/// The transcription of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Transcription))]
pub struct TranscriptionBody {
    /// The whole text, in Unicode normalization form C (NFC). Empty if the recording has no speech.
    #[cfg_attr(feature = "schema", schema(example = "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ"))]
    pub transcription: String,
    /// The text in the other language. Present only if `with-translation` is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, example = "Hello"))]
    pub translation: Option<String>,
    /// The segments in order. Present only if `with-timestamps` is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub timestamps: Option<Vec<SegmentBody>>,
}

/// A segment of the recording, with its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Segment))]
pub struct SegmentBody {
    /// The start of the segment in seconds from the start of the recording, with a precision of milliseconds.
    #[cfg_attr(feature = "schema", schema(example = 0.24, minimum = 0))]
    pub start: f64,
    /// The end of the segment in seconds from the start of the recording, with a precision of milliseconds.
    #[cfg_attr(feature = "schema", schema(example = 1.36, minimum = 0))]
    pub end: f64,
    /// The text of the segment.
    pub transcription: String,
    /// The text in the other language. Present only if `with-translation` is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub translation: Option<String>,
}
