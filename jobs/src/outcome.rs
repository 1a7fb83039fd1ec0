//! How a job ends: what the worker writes and the api turns into a response.

use serde::{Deserialize, Serialize};

/// The end of a job, as stored. Tag names are stored in rows: never rename one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Outcome {
    /// What an image shows, by falling score.
    Predictions {
        /// As many as asked for, or as many as there are labels.
        predictions: Vec<Prediction>,
    },
    /// Text as handwriting. The row says only this much: the rest lies in `artifacts`, whose bytes Postgres
    /// need not read as JSON.
    Handwriting {
        /// The contract's `points` object, as JSON text.
        #[serde(skip)]
        points: Vec<u8>,
        /// A PNG, if one was asked for.
        #[serde(skip)]
        image: Option<Vec<u8>>,
    },
    /// What a recording says.
    Transcription {
        /// All of it; empty where nothing is said.
        transcription: String,
        /// The same in the other language, if it was asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        translation: Option<String>,
        /// Its segments, if they were asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timestamps: Option<Vec<Segment>>,
        /// The recording's length, seconds.
        seconds: f64,
        /// What was odd about the recording, such as that it ends within a frame.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
    },
    /// The input cannot be worked on: the caller's to mend.
    Rejected {
        /// The field at fault, as the contract names it.
        field: String,
        /// A stable code such as `undecodable`.
        code: String,
        /// What was expected and what came.
        detail: String,
    },
    /// The service could not do it within its attempts. The cause is in the log and in `jobs.last_error`.
    Failed,
}

impl Outcome {
    /// It answers what was asked.
    pub const fn is_answer(&self) -> bool {
        match self {
            Self::Predictions { .. } | Self::Handwriting { .. } | Self::Transcription { .. } => true,
            Self::Rejected { .. } | Self::Failed => false,
        }
    }

    /// An input that cannot be worked on.
    pub fn rejected(field: &str, code: &str, detail: impl Into<String>) -> Self {
        Self::Rejected { field: field.to_owned(), code: code.to_owned(), detail: detail.into() }
    }
}

/// One guess at what an image shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Prediction {
    /// The character, NFC.
    pub label: String,
    /// Calibrated probability, 0 to 1.
    pub score: f32,
}

/// Words said together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// When they begin, seconds from the recording's start.
    pub start: f64,
    /// When they end.
    pub end: f64,
    /// What is said.
    pub transcription: String,
    /// The same in the other language, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub translation: Option<String>,
}

/// Where an attempt's time went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timing {
    /// Decoding and preparing the input, µs.
    pub decode_us: i32,
    /// In the model, waiting for its batch included, µs.
    pub infer_us: i32,
}
