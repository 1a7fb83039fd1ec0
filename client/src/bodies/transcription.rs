//! The response of speech recognition: the text, its translation and its segments.

use serde::{Deserialize, Serialize};

/// The transcription of a recording.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// The expected share of the text's letters that are right. Present only if `with-confidence` is true, the text has
    /// letters, and the model tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, example = 0.987, minimum = 0, maximum = 1))]
    pub confidence: Option<f64>,
    /// The language that was detected, `pa` or `en`. Present only if `lang` is `auto`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, example = "pa"))]
    pub language: Option<String>,
}

/// A segment of the recording, with its text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
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
    /// The expected share of the text's letters that are right. Present only if `with-confidence` is true and the model
    /// tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, example = 0.987, minimum = 0, maximum = 1))]
    pub confidence: Option<f64>,
    /// The number of the channel that it is said in, from 1. Present only if `channels` is `split`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, example = 1, minimum = 1))]
    pub channel: Option<u8>,
    /// The words in order. Present only if `with-words` is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false))]
    pub words: Option<Vec<WordBody>>,
}

/// A word of a segment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Word))]
pub struct WordBody {
    /// The word, as it is in the text of the segment.
    #[cfg_attr(feature = "schema", schema(example = "ਸਤਿ"))]
    pub word: String,
    /// The start of the word in seconds from the start of the recording, with a precision of milliseconds.
    #[cfg_attr(feature = "schema", schema(example = 0.24, minimum = 0))]
    pub start: f64,
    /// The end of the word in seconds from the start of the recording, with a precision of milliseconds.
    #[cfg_attr(feature = "schema", schema(example = 0.51, minimum = 0))]
    pub end: f64,
    /// The probability that the word is right. Present only if `with-confidence` is true and the model tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(nullable = false, example = 0.987, minimum = 0, maximum = 1))]
    pub confidence: Option<f64>,
}
