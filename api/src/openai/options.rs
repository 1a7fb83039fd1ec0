//! The values that the fields of OpenAI's audio API have.

use akhar_requests::{KeyTerm, Language};
use serde_json::json;

use crate::{
    input::value::{Rule, Value, choices, rule},
    problems::Code,
};

/// A model's name in requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    /// Transcribes Panjabi.
    Panjabi,
    /// Transcribes English.
    English,
    /// A model of OpenAI's, which programs for its API name. Transcribes the language that the request names.
    OpenAi(&'static str),
}

/// The name of a model that can translate into English.
#[derive(Debug, Clone, Copy)]
pub(super) struct TranslationModel;

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
    /// A JSON object with the text and its segments, each with its speaker: the channel of the recording.
    DiarizedJson,
}

/// How the response of a translation is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct TranslationFormat(pub(super) Format);

/// What has a time in the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Granularity {
    Segment,
    Word,
}

/// What the response has beside the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Logprobs;

/// The value of an option that changes nothing here.
#[derive(Debug)]
pub(super) struct Unused;

/// A term that the recording is likely to have. `None` for a text that is no term, which has no effect.
#[derive(Debug)]
pub(super) struct Keyword(pub(super) Option<KeyTerm>);

/// The value of an option that this server does not have.
#[derive(Debug)]
pub(super) struct Unsupported;

choices! {
    Format: Self::name, Some(("AudioFormat", "How the response is written."));
    TranslationFormat: |format: Self| format.0.name(),
        Some(("AudioTranslationFormat", "How the response of a translation is written."));
    Granularity: Self::name, Some(("AudioGranularity", "What has a time in the response."));
    Logprobs: |_: Self| "logprobs", None;
}

impl Model {
    pub(super) const ALL: [Self; 10] = [
        Self::Panjabi,
        Self::English,
        Self::OpenAi("whisper-1"),
        Self::OpenAi("gpt-4o-transcribe"),
        Self::OpenAi("gpt-4o-mini-transcribe"),
        Self::OpenAi("gpt-transcribe"),
        Self::OpenAi("gpt-4o-transcribe-diarize"),
        Self::OpenAi(LIVE),
        Self::OpenAi("gpt-realtime-whisper"),
        Self::OpenAi("gpt-realtime-translate"),
    ];

    pub(crate) const fn id(self) -> &'static str {
        match self {
            Self::Panjabi => "speech-pa",
            Self::English => "speech-en",
            Self::OpenAi(id) => id,
        }
    }

    /// Whether it is for live sound alone, which it cuts itself, as the own models do.
    pub(crate) fn is_live(self) -> bool {
        match self {
            Self::Panjabi | Self::English => true,
            Self::OpenAi(id) => is_live(id),
        }
    }

    /// The language that the model transcribes. `None` if it transcribes all of them.
    pub(crate) const fn language(self) -> Option<Language> {
        match self {
            Self::Panjabi => Some(Language::Panjabi),
            Self::English => Some(Language::English),
            Self::OpenAi(_) => None,
        }
    }
}

/// A model of OpenAI's for live sound.
const LIVE: &str = "gpt-live-transcribe";

fn is_live(id: &str) -> bool {
    id.starts_with("gpt-live-") || id.starts_with("gpt-realtime-")
}

/// The rule of names that this pattern has, and OpenAI's.
fn model_rule(own: &[&str], description: &str) -> Rule {
    rule(
        format!("{} or a name of OpenAI's, gpt-… or whisper-…", own.join(", ")),
        json!({
            "type": "string", "pattern": format!("^(?:{}|(?:gpt|whisper)-.+)$", own.join("|")), "maxLength": 100,
            "examples": [own[0]], "description": description,
        }),
    )
}

impl Value for Model {
    const COMPONENT: Option<&'static str> = Some("AudioModel");

    fn rule() -> Rule {
        model_rule(&["speech-pa", "speech-en"], "A model's name.")
    }

    /// Each of OpenAI's names is taken, also those to come.
    fn parse(text: &str) -> Result<Self, Code> {
        let is_of_openai = ["gpt-", "whisper-"].into_iter().any(|start| {
            text.strip_prefix(start).is_some_and(|rest| !rest.is_empty() && text.chars().count() <= 100)
        });
        let listed = Self::ALL.into_iter().find(|model| model.id() == text);
        let similar = if is_live(text) { LIVE } else { "gpt-transcribe" };
        listed.or_else(|| is_of_openai.then_some(Self::OpenAi(similar))).ok_or(Code::NotAChoice)
    }
}

impl Value for TranslationModel {
    const COMPONENT: Option<&'static str> = Some("AudioTranslationModel");

    fn rule() -> Rule {
        model_rule(&["speech-pa"], "The name of a model that can translate into English.")
    }

    fn parse(text: &str) -> Result<Self, Code> {
        match Model::parse(text)? {
            Model::English => Err(Code::NotAChoice),
            Model::Panjabi | Model::OpenAi(_) => Ok(Self),
        }
    }
}

impl Format {
    const ALL: [Self; 6] =
        [Self::Json, Self::Text, Self::Srt, Self::VerboseJson, Self::Vtt, Self::DiarizedJson];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Text => "text",
            Self::Srt => "srt",
            Self::VerboseJson => "verbose_json",
            Self::Vtt => "vtt",
            Self::DiarizedJson => "diarized_json",
        }
    }

    /// Whether the response is subtitles.
    pub(super) const fn is_subtitles(self) -> bool {
        matches!(self, Self::Srt | Self::Vtt)
    }

    /// Whether the response shows the segments.
    pub(super) const fn has_segments(self) -> bool {
        self.is_subtitles() || matches!(self, Self::VerboseJson | Self::DiarizedJson)
    }
}

impl TranslationFormat {
    const ALL: [Self; 5] = {
        let [json, text, srt, verbose_json, vtt, _diarized_json] = Format::ALL;
        [Self(json), Self(text), Self(srt), Self(verbose_json), Self(vtt)]
    };
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

impl Logprobs {
    const ALL: [Self; 1] = [Self];
}

impl Value for Unused {
    fn rule() -> Rule {
        rule("a string", json!({"type": "string"}))
    }

    fn parse(_: &str) -> Result<Self, Code> {
        Ok(Self)
    }
}

impl Value for Keyword {
    const MAX_BYTES: usize = KeyTerm::MAX_BYTES;
    const MAX_IN_LIST: usize = KeyTerm::MAX_IN_LIST;

    fn rule() -> Rule {
        rule("a string", json!({"type": "string"}))
    }

    fn parse(text: &str) -> Result<Self, Code> {
        Ok(Self(KeyTerm::parse(text).ok()))
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
