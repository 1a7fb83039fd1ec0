//! The outcome of a job, which the worker writes and the api turns into a response.

use serde::{Deserialize, Serialize};

use crate::{language::Language, speech::SubtitleSize};

/// The outcome of a job. The tag names are stored in rows: never rename one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Outcome {
    /// The result of a recognition.
    Predictions {
        /// Predictions with descending scores: as many as requested, or one for each label if there are fewer labels.
        predictions: Vec<Prediction>,
    },
    /// The result of the handwriting generator. The strokes and the picture are stored as artifacts.
    Handwriting {
        /// The `points` object of the response, as JSON text.
        #[serde(skip)]
        points: Vec<u8>,
        /// The bytes of a PNG, if one was requested.
        #[serde(skip)]
        image: Option<Vec<u8>>,
        /// The number of pages. `None` if an earlier version of the worker wrote it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        n_pages: Option<u16>,
        /// The picture as SVG, if one was requested. It is no artifact, because earlier versions of the api know no such
        /// artifact.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        svg: Option<String>,
    },
    /// The result of a speech recognition.
    Transcription {
        /// The whole text. Empty if the recording has no speech.
        transcription: String,
        /// The text in the other language, if a translation was requested.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        translation: Option<String>,
        /// The segments, if timestamps were requested.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timestamps: Option<Vec<Segment>>,
        /// The words, if their times were requested.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        words: Option<Vec<Word>>,
        /// The segments, if timestamps were not requested. The response does not have them, but the job's events do.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        segments: Vec<Segment>,
        /// The length of the recording in seconds.
        seconds: f64,
        /// What is unusual about the recording, such as a last frame that is cut off.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
        /// The parts of the recording of which a text is probably wrong, in order, first of the transcription.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        probably_wrong: Vec<ProbablyWrong>,
        /// The expected share of the transcription's letters that are right, 0 to 1. Absent without letters, and if the model
        /// does not tell it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confidence: Option<f64>,
        /// The language that was detected, or taken because none was. Absent if the request names it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        language: Option<Language>,
        /// The size of the subtitles that are made of the segments.
        #[serde(default, skip_serializing_if = "SubtitleSize::is_usual")]
        subtitles: SubtitleSize,
    },
    /// The result of a translation.
    Translation {
        /// The text in the other language: a line for each line of the source.
        translation: String,
        /// The language that it was translated from.
        language: Language,
        /// The probability that the worst sentence is about right, 0 to 1. Absent if nothing had to be translated, and if the
        /// model does not tell it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confidence: Option<f64>,
        /// What is unusual about the translation, such as lines that are probably wrong.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
    },
    /// The input cannot be processed, and only the caller can correct it.
    Rejected {
        /// The name of the field in the request.
        field: String,
        /// A stable code such as `undecodable`.
        code: String,
        /// What was expected and what was received.
        detail: String,
    },
    /// All attempts of the service failed. The cause is in the log and in `jobs.last_error`.
    Failed,
}

impl Outcome {
    /// Whether the outcome is a result, rather than a rejection or a failure.
    pub const fn is_answer(&self) -> bool {
        match self {
            Self::Predictions { .. }
            | Self::Handwriting { .. }
            | Self::Transcription { .. }
            | Self::Translation { .. } => true,
            Self::Rejected { .. } | Self::Failed => false,
        }
    }

    /// The segments of a transcription, whether or not they were requested. Empty for other outcomes.
    pub fn segments(&self) -> &[Segment] {
        match self {
            Self::Transcription { timestamps: Some(segments), .. } | Self::Transcription { segments, .. } => {
                segments
            }
            _ => &[],
        }
    }

    /// The length of the recording that was transcribed, seconds. `None` for other outcomes.
    pub const fn audio_s(&self) -> Option<f64> {
        match self {
            Self::Transcription { seconds, .. } => Some(*seconds),
            _ => None,
        }
    }

    /// The expected share of letters of a transcription that are right, or the probability that a translation is. `None` for
    /// other outcomes, and if it is unknown.
    pub const fn confidence(&self) -> Option<f64> {
        match self {
            Self::Transcription { confidence, .. } | Self::Translation { confidence, .. } => *confidence,
            _ => None,
        }
    }

    /// The outcome for an input that cannot be processed.
    pub fn rejected(field: &str, code: &str, detail: impl Into<String>) -> Self {
        Self::Rejected { field: field.to_owned(), code: code.to_owned(), detail: detail.into() }
    }
}

/// One prediction of what an image shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The character, in NFC.
    pub label: String,
    /// The calibrated probability, from 0 to 1.
    pub score: f32,
}

/// A segment of a recording, with its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// The start of the segment, in seconds from the start of the recording.
    pub start: f64,
    /// The end of the segment, in seconds from the start of the recording.
    pub end: f64,
    /// The text.
    pub transcription: String,
    /// The text in the other language, if a translation was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub translation: Option<String>,
    /// The expected share of the text's letters that are right, 0 to 1. Absent if it was not requested, and if the model does
    /// not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The number of the channel that it is said in, from 1. Absent if the channels were mixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<u8>,
}

/// A part of a recording of which a text is probably wrong.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ProbablyWrong {
    /// The text that is probably wrong.
    pub text: TextKind,
    /// The start of the part, in seconds from the start of the recording.
    pub start: f64,
    /// The end of the part, in seconds from the start of the recording.
    pub end: f64,
}

/// A text that a recording becomes. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextKind {
    /// What is said.
    Transcription,
    /// The same in the other language.
    Translation,
}

/// A word of a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// The start of the word, in seconds from the start of the recording.
    pub start: f64,
    /// The end of the word, in seconds from the start of the recording.
    pub end: f64,
    /// The word, in NFC.
    pub text: String,
    /// The probability that the word is right, 0 to 1. Absent if it was not requested, and if the model does not tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The number of the channel that it is said in, from 1. Absent if the channels were mixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<u8>,
}
