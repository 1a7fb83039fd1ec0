//! The parameters of each operation, parsed and checked by the api; nothing is checked again after this.

use serde::{Deserialize, Serialize};

use crate::Operation;

/// How many predictions a caller wants: 1 to 5, 3 unless told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct TopK(u8);

/// A `top-k` outside 1 to 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("top-k is {0}, expected an integer from 1 to 5")]
pub struct TopKError(u8);

impl TopK {
    /// The number itself.
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl Default for TopK {
    fn default() -> Self {
        Self(3)
    }
}

impl TryFrom<u8> for TopK {
    type Error = TopKError;
    fn try_from(k: u8) -> Result<Self, TopKError> {
        if (1..=5).contains(&k) { Ok(Self(k)) } else { Err(TopKError(k)) }
    }
}

impl From<TopK> for u8 {
    fn from(k: TopK) -> Self {
        k.0
    }
}

/// An operation with its parameters, as the api parsed them; nothing is checked again after this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Parameters {
    /// Letters.
    AlphabetRecognition {
        /// Predictions wanted.
        top_k: TopK,
    },
    /// Digits.
    DigitRecognition {
        /// Predictions wanted.
        top_k: TopK,
    },
    /// Handwriting.
    HandwritingGenerator(HandwritingParameters),
    /// Speech.
    SpeechRecognition(SpeechParameters),
}

/// What is wanted of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SpeechParameters {
    /// The language spoken in it.
    pub lang: Language,
    /// Its text in the other language is wanted.
    #[serde(default)]
    pub with_translation: bool,
    /// Segments with their times are wanted.
    pub with_timestamps: bool,
}

/// The languages that are understood. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Language {
    /// Panjabi.
    #[default]
    #[serde(rename = "pa")]
    Panjabi,
    /// English.
    #[serde(rename = "en")]
    English,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 2] = [Self::Panjabi, Self::English];

    /// What is translated into.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Panjabi => Self::English,
            Self::English => Self::Panjabi,
        }
    }

    /// Its ISO 639-1 code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Panjabi => "pa",
            Self::English => "en",
        }
    }
}

/// What is to be written, and how. Lengths are page units, which are pixels of the picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct HandwritingParameters {
    /// 2 to 100 scalar values, NFC, of the characters the contract allows.
    pub text: String,
    /// Between baselines, 120 to 150.
    pub line_space: f64,
    /// Between characters, 30 to 50.
    pub char_space: f64,
    /// Between words, 70 to 100.
    pub word_space: f64,
    /// 300 to 950.
    pub page_width: f64,
    /// 300 to 950.
    pub page_length: f64,
    /// The picture that is wanted beside the strokes, if one is.
    pub picture: Option<Picture>,
}

/// How a picture of handwriting looks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Picture {
    /// The ink.
    pub stroke_color: StrokeColor,
    /// The pen's width, 1 to 8.
    pub stroke_width: f64,
}

/// The inks there are. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "their names say it")]
pub enum StrokeColor {
    Black,
    Blue,
    Pink,
    Green,
    Yellow,
    Brown,
}

impl StrokeColor {
    /// Every ink.
    pub const ALL: [Self; 6] = [Self::Black, Self::Blue, Self::Pink, Self::Green, Self::Yellow, Self::Brown];

    /// As the contract names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Black => "black",
            Self::Blue => "blue",
            Self::Pink => "pink",
            Self::Green => "green",
            Self::Yellow => "yellow",
            Self::Brown => "brown",
        }
    }
}

impl Parameters {
    /// Which operation these are for.
    pub const fn operation(&self) -> Operation {
        match self {
            Self::AlphabetRecognition { .. } => Operation::AlphabetRecognition,
            Self::DigitRecognition { .. } => Operation::DigitRecognition,
            Self::HandwritingGenerator(_) => Operation::HandwritingGenerator,
            Self::SpeechRecognition(_) => Operation::SpeechRecognition,
        }
    }
}
