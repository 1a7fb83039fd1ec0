//! The session as its client sees it: updates come in, and the whole effective session goes out, and what it asks of a worker.

use akhar_requests::live::{LiveSession, SoundFormat};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{fields::Include, transcription::TranscriptionSession, translation::TranslationSession};
use crate::problems::{Code, Violation};

/// The effective session, by the present names.
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
            return Err(Violation::new("session", Code::WrongType, "session is no object"));
        }
        match self {
            Self::Transcription(session) => session.updated(update, is_former).map(Self::Transcription),
            Self::Translation(session) => session.updated(update).map(Self::Translation),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_update_is_an_object() {
        let session = Session::Transcription(TranscriptionSession::default());
        for (update, is_former) in [(json!(5), false), (Value::Null, true), (json!(["x"]), false)] {
            assert_eq!(session.updated(update, is_former).unwrap_err().field, "session");
        }
    }
}
