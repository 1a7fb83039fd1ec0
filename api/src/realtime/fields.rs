//! The fields of a session, and what they may be. Each is named as OpenAI's API names it, but those that this server adds as its forms do.

use akhar_requests::{
    Digits, KeyTerm, Language, Script,
    live::{SoundFormat, TurnDetection},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    input::value::Value as _,
    openai::{language::SpokenLanguage, options::Model},
    problems::{Code, Violation},
};

/// The pauses that end an utterance, milliseconds.
const MIN_SILENCE_MS: u32 = 100;
const MAX_SILENCE_MS: u32 = 10_000;
/// The most sound before the onset of speech that belongs to an utterance, milliseconds.
const MAX_PREFIX_MS: u32 = 2000;
/// The name of a language that is to be detected.
pub(super) const AUTO: &str = "auto";

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    Transcription,
}

/// Events and fields that are sent only to clients that ask for them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum Include {
    /// The words of an utterance with the probabilities that they are right.
    #[serde(rename = "item.input_audio_transcription.logprobs")]
    Logprobs,
    /// What an open utterance may become.
    #[serde(rename = "akhar.hypothesis")]
    Hypothesis,
    /// How much of the sound is on disk.
    #[serde(rename = "akhar.stored")]
    Stored,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Audio {
    #[serde(default)]
    pub(super) input: Input,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Input {
    #[serde(default)]
    pub(super) format: Format,
    /// No noise is reduced.
    #[serde(default, skip_deserializing)]
    pub(super) noise_reduction: (),
    #[serde(default)]
    pub(super) transcription: Option<Transcription>,
    #[serde(default)]
    pub(super) turn_detection: Option<Turns>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Format {
    #[serde(rename = "type")]
    pub(super) kind: FormatKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) rate: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) enum FormatKind {
    #[serde(rename = "audio/pcm")]
    Pcm,
    #[serde(rename = "audio/pcmu")]
    Mulaw,
    #[serde(rename = "audio/pcma")]
    Alaw,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Transcription {
    #[serde(default)]
    pub(super) model: Option<String>,
    #[serde(default)]
    pub(super) language: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) languages: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) keywords: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) delay: Option<Delay>,
    #[serde(default, rename = "with-translation", skip_serializing_if = "Option::is_none")]
    pub(super) with_translation: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) script: Option<Script>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<TextForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) digits: Option<Digits>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TextForm {
    Spoken,
    Written,
}

/// How long text waits until it is final, without turn detection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Delay {
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Turns {
    #[serde(rename = "type")]
    pub(super) kind: TurnsKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) threshold: Option<f32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) prefix_padding_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) silence_duration_ms: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) eagerness: Option<Eagerness>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TurnsKind {
    ServerVad,
    SemanticVad,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Eagerness {
    Low,
    Medium,
    High,
    Auto,
}

impl Default for Format {
    fn default() -> Self {
        Self { kind: FormatKind::Pcm, rate: Some(24_000) }
    }
}

impl Default for Input {
    fn default() -> Self {
        Self {
            format: Format::default(),
            noise_reduction: (),
            transcription: None,
            turn_detection: Some(Turns::of(TurnDetection::USUAL)),
        }
    }
}

impl Delay {
    pub(super) const fn ms(self) -> u32 {
        match self {
            Self::Minimal => 200,
            Self::Low => 350,
            Self::Medium => 500,
            Self::High => 1000,
            Self::Xhigh => 2000,
        }
    }
}

impl Turns {
    pub(super) const fn of(turns: TurnDetection) -> Self {
        Self {
            kind: TurnsKind::ServerVad,
            threshold: Some(turns.threshold),
            prefix_padding_ms: Some(turns.prefix_ms),
            silence_duration_ms: Some(turns.silence_ms),
            eagerness: None,
        }
    }

    /// The same with all values.
    pub(super) fn whole(self) -> Self {
        let silence_ms = self.silence_ms();
        Self {
            threshold: self.threshold.or(Some(TurnDetection::USUAL.threshold)),
            prefix_padding_ms: self.prefix_padding_ms.or(Some(TurnDetection::USUAL.prefix_ms)),
            silence_duration_ms: Some(silence_ms),
            ..self
        }
    }

    /// The pause that ends a turn. A semantic detector, which this server does not have, would wait longer if it were less eager.
    fn silence_ms(&self) -> u32 {
        self.silence_duration_ms.unwrap_or(match self.eagerness {
            None | Some(Eagerness::Auto | Eagerness::Medium) => TurnDetection::USUAL.silence_ms,
            Some(Eagerness::High) => 300,
            Some(Eagerness::Low) => 1000,
        })
    }

    pub(super) fn detection(&self) -> Result<TurnDetection, Violation> {
        const FIELD: &str = "session.audio.input.turn_detection.";
        let within = |name: &str, value: u32, (least, most): (u32, u32)| {
            let detail = format!("{FIELD}{name} is {value}, expected {least} to {most}");
            let is_within = (least..=most).contains(&value);
            is_within
                .then_some(value)
                .ok_or_else(|| Violation::new(&format!("{FIELD}{name}"), Code::OutOfRange, detail))
        };
        let threshold = self.threshold.unwrap_or(TurnDetection::USUAL.threshold);
        if !(0.0..=1.0).contains(&threshold) {
            let detail = format!("{FIELD}threshold is {threshold}, expected 0 to 1");
            return Err(Violation::new(&format!("{FIELD}threshold"), Code::OutOfRange, detail));
        }
        Ok(TurnDetection {
            silence_ms: within("silence_duration_ms", self.silence_ms(), (MIN_SILENCE_MS, MAX_SILENCE_MS))?,
            prefix_ms: within(
                "prefix_padding_ms",
                self.prefix_padding_ms.unwrap_or(TurnDetection::USUAL.prefix_ms),
                (0, MAX_PREFIX_MS),
            )?,
            threshold,
        })
    }
}

impl Transcription {
    /// The language, if there is one.
    pub(super) fn language(&self, model: Option<Model>) -> Result<Option<Language>, Violation> {
        const FIELD: &str = "session.audio.input.transcription.language";
        let read = |text: &str| {
            SpokenLanguage::check(FIELD, text).map(|language| language.0).map_err(|mut all| all.remove(0))
        };
        let of_model = model.and_then(Model::language);
        let hints = self.languages.as_deref().unwrap_or_default();
        let named = match (&self.language, hints) {
            (Some(text), _) if text == AUTO => None,
            (Some(text), _) => Some(read(text)?),
            (None, [only]) => Some(read(only)?),
            (None, _) => of_model,
        };
        if let (Some(named), Some(only)) = (named, of_model)
            && named != only
        {
            let detail = format!("{FIELD} is {}, but the model transcribes {}", named.code(), only.code());
            return Err(Violation::new(FIELD, Code::NotAChoice, detail));
        }
        Ok(named)
    }

    pub(super) fn keyterms(&self) -> Result<Vec<KeyTerm>, Violation> {
        const FIELD: &str = "session.audio.input.transcription.keywords";
        let sent = self.keywords.as_deref().unwrap_or_default();
        if sent.len() > KeyTerm::MAX_IN_LIST {
            let detail =
                format!("{FIELD} has {} terms, expected at most {}", sent.len(), KeyTerm::MAX_IN_LIST);
            return Err(Violation::new(FIELD, Code::TooMany, detail));
        }
        // As with files, a text that is no term has no effect.
        Ok(sent.iter().filter_map(|text| KeyTerm::parse(text).ok()).collect())
    }
}

impl Format {
    pub(super) const fn of(format: SoundFormat) -> Self {
        let (kind, rate) = match format {
            SoundFormat::Pcm24000 => (FormatKind::Pcm, Some(24_000)),
            SoundFormat::Pcm16000 => (FormatKind::Pcm, Some(16_000)),
            SoundFormat::Mulaw8000 => (FormatKind::Mulaw, None),
            SoundFormat::Alaw8000 => (FormatKind::Alaw, None),
        };
        Self { kind, rate }
    }
}

impl Input {
    pub(super) fn check_rate(&mut self) -> Result<(), Violation> {
        const FIELD: &str = "session.audio.input.format.rate";
        match (self.format.kind, self.format.rate) {
            (FormatKind::Pcm, None) => self.format.rate = Some(24_000),
            (FormatKind::Pcm, Some(24_000 | 16_000)) => (),
            (FormatKind::Pcm, Some(rate)) => {
                let detail = format!("{FIELD} is {rate}, expected 24000 or 16000");
                return Err(Violation::new(FIELD, Code::NotAChoice, detail));
            }
            // These always have 8 kHz. A rate may be left of another format.
            (FormatKind::Mulaw | FormatKind::Alaw, _) => self.format.rate = None,
        }
        Ok(())
    }
}

/// A session after an update, which is not checked yet.
pub(super) fn merged<S: Serialize + DeserializeOwned>(session: &S, update: Value) -> Result<S, Violation> {
    let mut merged = json!(session);
    merge(&mut merged, update);
    serde_path_to_error::deserialize(merged).map_err(|error| {
        let field = format!("session.{}", error.path());
        Violation::new(&field, Code::WrongType, format!("{field} is not valid: {}", error.inner()))
    })
}

/// Changes what the update names. A part that is off begins with what the update says.
fn merge(target: &mut Value, update: Value) {
    match (target, update) {
        (Value::Object(target), Value::Object(update)) => {
            for (name, value) in update {
                merge(target.entry(name).or_insert(Value::Null), value);
            }
        }
        (target, update) => *target = update,
    }
}
