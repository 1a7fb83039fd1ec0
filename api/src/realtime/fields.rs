//! The fields of a session, and what they may be. Each is named as OpenAI's API names it, but those that this server adds as its forms do.

use std::{fmt::Display, ops::RangeInclusive};

use akhar_requests::{Digits, KeyTerm, Language, Script, live::TurnDetection};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json, value::to_raw_value};
use serde_path_to_error::Segment;

use crate::{
    input::{
        value::{self, Value as _},
        values::described,
    },
    openai::{language::SpokenLanguage, options::Model},
    problems::{Code, Violation},
};

/// The pauses that may end an utterance, and the sound before the onset of speech that may belong to it, milliseconds.
const SILENCE_MS: RangeInclusive<u32> = 100..=10_000;
const PREFIX_MS: RangeInclusive<u32> = 0..=2000;
/// The name of a language that is to be detected.
const AUTO: &str = "auto";

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    #[default]
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
    pub(super) transcription: Option<Transcription>,
    pub(super) turn_detection: Option<Turns>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Format {
    #[serde(rename = "type")]
    pub(super) kind: FormatKind,
    #[serde(skip_serializing_if = "Option::is_none")]
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
    pub(super) model: Option<String>,
    pub(super) language: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) languages: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) keywords: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) delay: Option<Delay>,
    #[serde(rename = "with-translation", skip_serializing_if = "Option::is_none")]
    pub(super) with_translation: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) script: Option<Script>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) format: Option<TextForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
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

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct Turns {
    #[serde(rename = "type")]
    pub(super) kind: TurnsKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) threshold: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) prefix_padding_ms: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) silence_duration_ms: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) eagerness: Option<Eagerness>,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TurnsKind {
    #[default]
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
            turn_detection: Some(Turns::default()),
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
    /// The same with the values by which turns are detected, as a client gets it.
    pub(super) fn effective(&self) -> Self {
        Self {
            threshold: self.threshold.or(Some(f64::from(TurnDetection::USUAL.threshold))),
            prefix_padding_ms: self.prefix_padding_ms.or(Some(TurnDetection::USUAL.prefix_ms)),
            silence_duration_ms: Some(self.silence_ms()),
            ..*self
        }
    }

    /// The pause that ends a turn. A semantic detector, which this server does not have, would wait longer if it were less eager.
    fn silence_ms(&self) -> u32 {
        match (self.kind, self.eagerness) {
            (TurnsKind::SemanticVad, Some(Eagerness::High)) => 300,
            (TurnsKind::SemanticVad, Some(Eagerness::Low)) => 1000,
            _ => self.silence_duration_ms.unwrap_or(TurnDetection::USUAL.silence_ms),
        }
    }

    pub(super) fn detection(&self) -> Result<TurnDetection, Violation> {
        let usual = TurnDetection::USUAL;
        let threshold = self.threshold.unwrap_or(f64::from(usual.threshold));
        #[expect(clippy::cast_possible_truncation, reason = "0 to 1, and few digits matter")]
        let threshold = within("threshold", threshold, 0.0..=1.0)? as f32;
        Ok(TurnDetection {
            silence_ms: within("silence_duration_ms", self.silence_ms(), SILENCE_MS)?,
            prefix_ms: within(
                "prefix_padding_ms",
                self.prefix_padding_ms.unwrap_or(usual.prefix_ms),
                PREFIX_MS,
            )?,
            threshold,
        })
    }
}

fn within<T: PartialOrd + Display>(name: &str, value: T, range: RangeInclusive<T>) -> Result<T, Violation> {
    if range.contains(&value) {
        return Ok(value);
    }
    let field = format!("session.audio.input.turn_detection.{name}");
    let detail = format!("{field} is {value}, expected {} to {}", range.start(), range.end());
    Err(Violation::new(&field, Code::OutOfRange, detail))
}

impl Transcription {
    /// The language, if there is one.
    pub(super) fn language(&self, model: Option<Model>) -> Result<Option<Language>, Violation> {
        const FIELD: &str = "session.audio.input.transcription.language";
        let read = |text: &str| checked::<SpokenLanguage>(FIELD, text).map(|language| language.0);
        let of_model = model.and_then(Model::language);
        let hints = self.languages.as_deref().unwrap_or_default();
        for (n, hint) in hints.iter().enumerate() {
            checked::<SpokenLanguage>(&format!("session.audio.input.transcription.languages[{n}]"), hint)?;
        }
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

impl Input {
    pub(super) fn check_rate(&mut self) -> Result<(), Violation> {
        const FIELD: &str = "session.audio.input.format.rate";
        // µ-law and A-law always have 8 kHz. A rate may be left of another format.
        let rate = self.format.rate.unwrap_or(24_000);
        self.format.rate = (self.format.kind == FormatKind::Pcm).then_some(rate);
        if self.format.rate.is_some_and(|rate| rate != 24_000 && rate != 16_000) {
            let detail = format!("{FIELD} is {rate}, expected 24000 or 16000");
            return Err(Violation::new(FIELD, Code::NotAChoice, detail));
        }
        Ok(())
    }
}

/// The value of a field, or the first thing that is wrong with it.
pub(super) fn checked<T: value::Value>(field: &str, text: &str) -> Result<T, Violation> {
    T::check(field, text).map_err(|mut all| all.remove(0))
}

/// A session after an update, which is not checked yet.
pub(super) fn merged<S: Serialize + DeserializeOwned>(session: &S, update: Value) -> Result<S, Violation> {
    let mut merged = json!(session);
    merge(&mut merged, update);
    serde_path_to_error::deserialize(&merged).map_err(|error| {
        let field = format!("session.{}", error.path());
        let sent = error.path().iter().try_fold(&merged, |value, segment| match segment {
            Segment::Seq { index } => value.get(index),
            segment => value.get(segment.to_string()),
        });
        let reason = error.inner().to_string();
        match (sent, reason.rsplit_once("expected ")) {
            (Some(sent), Some((_, expected))) => wrong_type(&field, sent, in_json(expected)),
            _ => Violation::new(&field, Code::WrongType, format!("{field} is not valid: {reason}")),
        }
    })
}

/// What a field is that is not as it has to be.
pub(super) fn wrong_type(field: &str, sent: &Value, expected: &str) -> Violation {
    let sent = to_raw_value(sent).map_or_else(|_| "unreadable".to_owned(), |sent| described(&sent));
    Violation::new(field, Code::WrongType, format!("{field} is {sent}, expected {expected}"))
}

/// What this program expects, by the names of JSON.
fn in_json(expected: &str) -> &str {
    match expected {
        "f64" => "a number",
        "u32" => "a whole number from 0 to 4294967295",
        "a sequence" => "an array",
        "string or map" => "a string",
        _ if expected.starts_with("struct ") => "an object",
        _ => expected,
    }
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
