//! The routes of OpenAI's audio API (<https://platform.openai.com/docs/api-reference/audio>), for programs that already
//! use it. Each request is a speech recognition job like any other.
//!
//! A route's file has its handler, `form` and `options` read the requests, `response` writes what the caller chose, `stream` writes it as events, and
//! `schema` describes the forms to the OpenAPI document.

mod form;
pub(crate) mod models;
mod options;
mod response;
pub(crate) mod schema;
mod stream;
pub(crate) mod transcriptions;
pub(crate) mod translations;

use akhar_jobs::Language;

use crate::problems::{Code, responses::Examples};

/// A model's name in requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Model {
    /// Transcribes Panjabi.
    #[default]
    Panjabi,
    /// Transcribes English.
    English,
    /// The name that programs for OpenAI's API use. Transcribes the language that the request names.
    Whisper,
}

impl Model {
    const ALL: [Self; 3] = [Self::Panjabi, Self::English, Self::Whisper];

    const fn id(self) -> &'static str {
        match self {
            Self::Panjabi => "speech-pa",
            Self::English => "speech-en",
            Self::Whisper => "whisper-1",
        }
    }

    /// The language that the model transcribes. `None` if it transcribes all of them.
    const fn language(self) -> Option<Language> {
        match self {
            Self::Panjabi => Some(Language::Panjabi),
            Self::English => Some(Language::English),
            Self::Whisper => None,
        }
    }
}

/// The path of transcriptions.
const PATH: &str = "/v1/audio/transcriptions";

/// The details in the examples of problems.
pub(crate) const EXAMPLES: Examples = Examples {
    file: Some([
        "file is larger than 26214400 bytes",
        "file is not an MP3, WAV, FLAC, Ogg, MP4 or WebM file",
    ]),
    invalid: ("language", Code::NotAChoice, "language is \"fr\", expected one of pa, en"),
};
