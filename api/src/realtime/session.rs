//! The session as its client sees it: updates come in, and the whole effective session goes out, and what it asks of a worker.

use akhar_requests::live::{LiveSession, SoundFormat};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    fields::{Include, wrong_type},
    transcription::TranscriptionSession,
    translation::TranslationSession,
};
use crate::problems::{Code, Violation};

/// The most bytes of a session, which its job keeps: several times as many as the longest terms have.
const MAX_BYTES: usize = 64 * 1024;

/// The session as its client has asked for it, by the present names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Session {
    /// The sound is transcribed.
    Transcription(TranscriptionSession),
    /// It is translated.
    Translation(TranslationSession),
}

impl Session {
    pub(super) const fn is_translation(&self) -> bool {
        matches!(self, Self::Translation(_))
    }

    /// The session after an update, which may be by the former names. Only what the update names changes, and `null` turns a part off.
    pub(super) fn updated(&self, update: Value, is_former: bool) -> Result<Self, Violation> {
        if !update.is_object() {
            return Err(wrong_type("session", &update, "an object"));
        }
        let updated = match self {
            Self::Transcription(session) => Self::Transcription(session.updated(update, is_former)?),
            Self::Translation(session) => Self::Translation(session.updated(update)?),
        };
        updated.check()?;
        Ok(updated)
    }

    /// Refuses a session that a job cannot keep.
    pub(super) fn check(&self) -> Result<(), Violation> {
        let session = json!(self);
        let n_bytes = session.to_string().len();
        if n_bytes > MAX_BYTES {
            let detail = format!("session has {n_bytes} bytes, expected at most {MAX_BYTES}");
            return Err(Violation::new("session", Code::TooLong, detail));
        }
        match nul("session".to_owned(), &session) {
            Some(field) => {
                let detail = format!("{field} has the character U+0000, which is not allowed");
                Err(Violation::new(&field, Code::CharacterNotAllowed, detail))
            }
            None => Ok(()),
        }
    }

    /// What it asks of a worker.
    pub(super) fn live(&self) -> Result<LiveSession, Violation> {
        match self {
            Self::Transcription(session) => session.live(),
            Self::Translation(session) => session.live(),
        }
    }

    pub(super) const fn sound_format(&self) -> SoundFormat {
        match self {
            Self::Transcription(session) => session.sound_format(),
            Self::Translation(_) => SoundFormat::Pcm24000,
        }
    }

    pub(super) fn includes(&self, what: Include) -> bool {
        let include = match self {
            Self::Transcription(session) => &session.include,
            Self::Translation(session) => &session.include,
        };
        include.iter().flatten().any(|include| *include == what)
    }

    /// The session as its client gets it, by the present or the former names.
    pub(super) fn shown(&self, id: &str, is_former: bool) -> Value {
        match self {
            Self::Transcription(session) => session.shown(id, is_former),
            Self::Translation(session) => session.shown(id),
        }
    }
}

/// The field with U+0000, which Postgres does not store.
fn nul(field: String, value: &Value) -> Option<String> {
    match value {
        Value::String(text) => text.contains('\0').then_some(field),
        Value::Array(values) => {
            values.iter().enumerate().find_map(|(n, value)| nul(format!("{field}[{n}]"), value))
        }
        Value::Object(members) => {
            members.iter().find_map(|(name, value)| nul(format!("{field}.{name}"), value))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_is_an_object_and_a_session_has_a_largest_size() {
        let session = Session::Transcription(TranscriptionSession::default());
        let long = json!({"input_audio_transcription": {"keywords": ["a".repeat(MAX_BYTES)]}});
        for (update, is_former) in
            [(json!(5), false), (Value::Null, true), (json!(["x"]), false), (long, true)]
        {
            assert_eq!(session.updated(update, is_former).unwrap_err().field, "session");
        }
    }

    #[test]
    fn a_text_that_the_database_does_not_store_is_refused() {
        let transcription = Session::Transcription(TranscriptionSession::default());
        let update = json!({"audio": {"input": {"transcription": {"keywords": ["a", "a\0"]}}}});
        let refused = transcription.updated(update, false).unwrap_err();
        assert_eq!(refused.field, "session.audio.input.transcription.keywords[1]");
        assert_eq!(refused.code, "character_not_allowed");
    }
}
