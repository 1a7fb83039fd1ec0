//! The session as its client sees it: updates come in, and the whole effective session goes out, and what it asks of a worker.

use akhar_requests::live::{LiveParameters, LiveSession, SoundFormat};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{fields::Include, transcription::TranscriptionSession, translation::TranslationSession};
use crate::problems::Violation;

/// By which names events and fields go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Names {
    /// Those of transcription.
    Transcription,
    /// Those that transcription had before.
    Former,
    /// Those of translation.
    Translation,
}

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
    /// The session after an update. Only what the update names changes, and `null` turns a part off.
    pub(super) fn updated(&self, update: Value, names: Names) -> Result<Self, Violation> {
        match self {
            Self::Transcription(session) => {
                session.updated(update, names == Names::Former).map(Self::Transcription)
            }
            Self::Translation(session) => session.updated(update).map(Self::Translation),
        }
    }

    /// This session as it was begun with these parameters.
    pub(super) fn begun(self, parameters: &LiveParameters) -> Self {
        match self {
            Self::Transcription(_) => Self::Transcription(TranscriptionSession::of(parameters)),
            Self::Translation(session) => Self::Translation(session.begun(parameters)),
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
        match self {
            Self::Transcription(session) => session.includes(what),
            Self::Translation(session) => session.includes(what),
        }
    }

    /// The session as its client gets it.
    pub(super) fn shown(&self, id: &str, names: Names) -> Value {
        match self {
            Self::Transcription(session) => session.shown(id, names == Names::Former),
            Self::Translation(session) => session.shown(id),
        }
    }
}
