//! The parameters of each operation. The api has parsed and checked them, and no later code checks them again.

use serde::{Deserialize, Serialize};

use crate::Operation;

/// The number of predictions to return: 1 to 5. The default is 3.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct TopK(u8);

/// A `top-k` outside 1 to 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("top-k is {0}, expected an integer from 1 to 5")]
pub struct TopKError(u8);

impl TopK {
    /// The number as a `usize`.
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

/// An operation and its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Parameters {
    /// Recognition of a letter.
    AlphabetRecognition {
        /// The number of predictions to return.
        top_k: TopK,
    },
    /// Recognition of a digit.
    DigitRecognition {
        /// The number of predictions to return.
        top_k: TopK,
    },
    /// Generation of handwriting.
    HandwritingGenerator(HandwritingParameters),
    /// Recognition of speech.
    SpeechRecognition(SpeechParameters),
}

/// The parameters of a speech recognition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SpeechParameters {
    /// The language spoken in the recording.
    pub lang: Language,
    /// Whether to translate the text into the other language.
    #[serde(default)]
    pub with_translation: bool,
    /// Whether to return the segments with their times.
    pub with_timestamps: bool,
    /// Whether to return the words with their times. Not written if false, because idempotency keys have hashes of the
    /// parameters from before this field existed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_words: bool,
}

/// A language of speech. The names are stored in rows: never rename one.
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

    /// The other language, which a translation is in.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Panjabi => Self::English,
            Self::English => Self::Panjabi,
        }
    }

    /// The ISO 639-1 code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Panjabi => "pa",
            Self::English => "en",
        }
    }
}

/// The parameters of the handwriting generator. All lengths are in page units; one unit is one pixel of the picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct HandwritingParameters {
    /// The text in NFC: 2 to 100 Unicode scalar values, all of them allowed characters.
    pub text: String,
    /// The distance between baselines, 120 to 150.
    pub line_space: f64,
    /// The space between characters, 30 to 50.
    pub char_space: f64,
    /// The space between words, 70 to 100.
    pub word_space: f64,
    /// The width of a page, 300 to 950.
    pub page_width: f64,
    /// The length of a page, 300 to 950.
    pub page_length: f64,
    /// How to draw the picture. `None` if only the strokes are requested.
    pub picture: Option<Picture>,
}

/// How a picture of handwriting looks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Picture {
    /// The colour of the strokes.
    pub stroke_color: StrokeColor,
    /// The width of the strokes, 1 to 8.
    pub stroke_width: f64,
}

/// A colour of strokes. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the colours")]
pub enum StrokeColor {
    Black,
    Blue,
    Pink,
    Green,
    Yellow,
    Brown,
}

impl StrokeColor {
    /// Every colour.
    pub const ALL: [Self; 6] = [Self::Black, Self::Blue, Self::Pink, Self::Green, Self::Yellow, Self::Brown];

    /// The name in requests.
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
    /// The operation that these are the parameters of.
    pub const fn operation(&self) -> Operation {
        match self {
            Self::AlphabetRecognition { .. } => Operation::AlphabetRecognition,
            Self::DigitRecognition { .. } => Operation::DigitRecognition,
            Self::HandwritingGenerator(_) => Operation::HandwritingGenerator,
            Self::SpeechRecognition(_) => Operation::SpeechRecognition,
        }
    }
}
