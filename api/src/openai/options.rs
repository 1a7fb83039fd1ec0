//! The values that the fields of OpenAI's audio API have.

use akhar_jobs::Language;
use serde_json::json;

use crate::{
    input::value::{Rule, Value, choices, rule},
    problems::Code,
};

/// A model's name in requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Model {
    /// Transcribes Panjabi.
    Panjabi,
    /// Transcribes English.
    English,
    /// The name that programs for OpenAI's API use. Transcribes the language that the request names.
    Whisper,
}

/// The name of a model that can translate into English.
#[derive(Debug, Clone, Copy)]
pub(super) struct TranslationModel(Model);

/// How the response is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// A JSON object with the text.
    Json,
    /// The text alone.
    Text,
    /// Subtitles as `SubRip`.
    Srt,
    /// A JSON object with the text, its segments or words and the recording's length.
    VerboseJson,
    /// Subtitles as `WebVTT`.
    Vtt,
}

/// What has a time in the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Granularity {
    Segment,
    Word,
}

/// The value of an option that this server does not have.
#[derive(Debug)]
pub(super) struct Unsupported;

choices! {
    Model: Self::id, Some(("AudioModel", "A model's name."));
    TranslationModel: |model: Self| model.0.id(),
        Some(("AudioTranslationModel", "The name of a model that can translate into English."));
    Format: Self::name, Some(("AudioFormat", "How the response is written."));
    Granularity: Self::name, Some(("AudioGranularity", "What has a time in the response."));
}

impl Model {
    pub(super) const ALL: [Self; 3] = [Self::Panjabi, Self::English, Self::Whisper];

    pub(super) const fn id(self) -> &'static str {
        match self {
            Self::Panjabi => "speech-pa",
            Self::English => "speech-en",
            Self::Whisper => "whisper-1",
        }
    }

    /// The language that the model transcribes. `None` if it transcribes all of them.
    pub(super) const fn language(self) -> Option<Language> {
        match self {
            Self::Panjabi => Some(Language::Panjabi),
            Self::English => Some(Language::English),
            Self::Whisper => None,
        }
    }
}

impl TranslationModel {
    const ALL: [Self; 2] = [Self(Model::Panjabi), Self(Model::Whisper)];
}

impl Format {
    const ALL: [Self; 5] = [Self::Json, Self::Text, Self::Srt, Self::VerboseJson, Self::Vtt];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Text => "text",
            Self::Srt => "srt",
            Self::VerboseJson => "verbose_json",
            Self::Vtt => "vtt",
        }
    }

    /// Whether the response shows the segments.
    pub(super) const fn has_segments(self) -> bool {
        matches!(self, Self::Srt | Self::Vtt | Self::VerboseJson)
    }
}

impl Granularity {
    const ALL: [Self; 2] = [Self::Segment, Self::Word];

    const fn name(self) -> &'static str {
        match self {
            Self::Segment => "segment",
            Self::Word => "word",
        }
    }
}

impl Value for Unsupported {
    fn rule() -> Rule {
        rule("nothing", json!({"type": "string"}))
    }

    fn parse(_: &str) -> Result<Self, Code> {
        Ok(Self)
    }
}
