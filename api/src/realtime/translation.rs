//! A session that translates.

use std::time::{SystemTime, UNIX_EPOCH};

use akhar_requests::{
    Language, SpeechParameters,
    live::{LiveSession, MAX_LIVE_S, TurnDetection},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fields::{Include, checked, merged};
use crate::{
    openai::{language::SpokenLanguage, options::Model},
    problems::{Code, Violation},
};

/// The effective session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TranslationSession {
    #[serde(rename = "type")]
    kind: Kind,
    model: String,
    #[serde(default)]
    audio: Audio,
    pub(super) include: Option<Vec<Include>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Translation,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Audio {
    #[serde(default)]
    input: Input,
    #[serde(default)]
    output: Output,
}

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct Input {
    /// No noise is reduced.
    #[serde(default, skip_deserializing)]
    noise_reduction: (),
    transcription: Option<Transcription>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Transcription {
    model: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Output {
    language: String,
}

impl Default for Output {
    fn default() -> Self {
        Self { language: Language::English.code().to_owned() }
    }
}

impl TranslationSession {
    pub(super) fn new(model: Model) -> Self {
        Self { kind: Kind::Translation, model: model.id().to_owned(), audio: Audio::default(), include: None }
    }

    pub(super) fn updated(&self, update: Value) -> Result<Self, Violation> {
        let session: Self = merged(self, update)?;
        if session.model != self.model {
            let detail = format!("session.model is set when the session begins, to {}", self.model);
            return Err(Violation::new("session.model", Code::Unsupported, detail));
        }
        session.live()?;
        Ok(session)
    }

    /// What it asks of a worker. Either language may be spoken.
    pub(super) fn live(&self) -> Result<LiveSession, Violation> {
        const FIELD: &str = "session.audio.output.language";
        let into = checked::<SpokenLanguage>(FIELD, &self.audio.output.language)?;
        if let Some(Transcription { model }) = &self.audio.input.transcription {
            checked::<Model>("session.audio.input.transcription.model", model)?;
        }
        let speech = SpeechParameters {
            detect_language: true,
            with_translation: true,
            translate_into: Some(into.0),
            ..SpeechParameters::default()
        };
        Ok(LiveSession { speech, turn_detection: Some(TurnDetection::USUAL), delay_ms: 0 })
    }

    /// Whether its client gets the text that is translated.
    pub(super) const fn is_transcribed(&self) -> bool {
        self.audio.input.transcription.is_some()
    }

    /// The session as its client gets it. It says that there is no sound in the other language.
    pub(super) fn shown(&self, id: &str) -> Value {
        let mut shown = json!(self);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        shown["id"] = json!(id);
        shown["expires_at"] = json!(now.as_secs() + u64::from(MAX_LIVE_S));
        shown["output_modalities"] = json!(["text"]);
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::value::Value as _;

    #[test]
    fn only_the_language_and_the_transcript_can_be_changed() {
        let session = TranslationSession::new(Model::parse("gpt-realtime-translate").unwrap());
        let into = |language: &str| json!({"audio": {"output": {"language": language}}});
        let live = session.updated(into("pa-IN")).unwrap().live().unwrap();
        assert_eq!(
            (live.speech.translate_into, live.speech.detect_language),
            (Some(Language::Panjabi), true)
        );
        let with_text = json!({"audio": {"input": {"transcription": {"model": "gpt-live-transcribe"}}}});
        assert!(!session.is_transcribed() && session.updated(with_text).unwrap().is_transcribed());
        for (update, field) in [
            (into("fr"), "session.audio.output.language"),
            (json!({"model": "other"}), "session.model"),
            (json!({"type": "transcription"}), "session.type"),
            (
                json!({"audio": {"input": {"transcription": {"model": "llama"}}}}),
                "session.audio.input.transcription.model",
            ),
        ] {
            assert_eq!(session.updated(update).unwrap_err().field, field);
        }
        assert_eq!(session.shown("sess_1")["output_modalities"], json!(["text"]));
    }
}
