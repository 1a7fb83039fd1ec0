//! The parameters of each operation. The api has parsed and checked them, and no later code checks them again.

use akhar_jobs::Work;
use serde::{Deserialize, Serialize};

use crate::{
    bounded::Bounded, digits::Digits, language::Language, live::LiveParameters, operation::Operation,
    panjabi_text::PanjabiText, script::Script, source_text::SourceText, speech::SpeechParameters,
};

/// The number of predictions to return.
pub type TopK = Bounded<u8, 1, 5>;
/// The distance between baselines, in page units. One unit is one pixel of the picture.
pub type LineSpace = Bounded<f64, 120, 150>;
/// The space between characters, in page units.
pub type CharSpace = Bounded<f64, 30, 50>;
/// The space between words, in page units.
pub type WordSpace = Bounded<f64, 70, 100>;
/// The width of a page, in page units.
pub type PageWidth = Bounded<f64, 300, 950>;
/// The length of a page, in page units.
pub type PageLength = Bounded<f64, 300, 950>;
/// The width of the strokes in a picture, in page units.
pub type StrokeWidth = Bounded<f64, 1, 8>;

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
    /// Live transcription.
    LiveTranscription(LiveParameters),
    /// Recognition of speech.
    SpeechRecognition(SpeechParameters),
    /// Translation of a text.
    Translation(TranslationParameters),
}

/// The parameters of a translation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct TranslationParameters {
    /// The text.
    pub text: SourceText,
    /// The language of the text. The translation is in the other one.
    pub lang: Language,
    /// The digits of numbers in the translation, if they are written in figures.
    pub written: Option<Digits>,
    /// The script of a translation into Panjabi.
    pub script: Script,
}

/// The parameters of the handwriting generator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the types say what the fields are")]
pub struct HandwritingParameters {
    pub text: PanjabiText,
    pub line_space: LineSpace,
    pub char_space: CharSpace,
    pub word_space: WordSpace,
    pub page_width: PageWidth,
    pub page_length: PageLength,
    /// How to draw the picture. `None` if only the strokes are requested.
    pub picture: Option<Picture>,
    /// What the handwriting is made from. If absent, it is made from the job's id, and is not written, because idempotency
    /// keys have hashes of the parameters from before this field existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u32>,
}

/// How a picture of handwriting looks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the types say what the fields are")]
pub struct Picture {
    pub stroke_color: StrokeColor,
    pub stroke_width: StrokeWidth,
    /// Whether to draw an SVG too. Not written if false, like an absent seed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_svg: bool,
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
            Self::LiveTranscription(_) => Operation::LiveTranscription,
            Self::SpeechRecognition(_) => Operation::SpeechRecognition,
            Self::Translation(_) => Operation::Translation,
        }
    }
    /// What is to be done, as the queue has it.
    pub fn work(&self) -> serde_json::Result<Work> {
        let operation = self.operation();
        let parameters = serde_json::value::to_raw_value(self)?;
        Ok(Work { queue: operation.queue(), operation: operation.name(), parameters })
    }
}
