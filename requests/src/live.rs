//! Live transcription: what a session asks for, what its caller may do in the middle of it, and what it says. The api writes the
//! first two and the worker the last; to the queue they are documents.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{language::Language, outcome::Word, speech::SpeechParameters};

/// The longest session, seconds of sound.
pub const MAX_LIVE_S: u32 = 2 * 60 * 60;

/// A session without further input for this long ends, seconds. A part may be empty.
pub const LIVE_IDLE_S: u32 = 60;

/// The parameters of a live transcription.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct LiveParameters {
    /// The format of all sound of the session.
    pub format: SoundFormat,
    /// The session as it begins.
    pub session: LiveSession,
    /// The same as its client sees it, for the next connection of the client.
    #[serde(default)]
    pub shown: Value,
}

/// A format of sound with one channel. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SoundFormat {
    /// Signed 16-bit samples, little-endian, at 24 kHz.
    #[default]
    Pcm24000,
    /// Signed 16-bit samples, little-endian, at 16 kHz.
    Pcm16000,
    /// µ-law (ITU-T G.711) at 8 kHz.
    Mulaw8000,
    /// A-law (ITU-T G.711) at 8 kHz.
    Alaw8000,
}

impl SoundFormat {
    /// The sampling rate, Hz.
    pub const fn rate(self) -> u32 {
        match self {
            Self::Pcm24000 => 24_000,
            Self::Pcm16000 => 16_000,
            Self::Mulaw8000 | Self::Alaw8000 => 8_000,
        }
    }

    /// The bytes of a sample.
    pub const fn bytes_per_sample(self) -> u32 {
        match self {
            Self::Pcm24000 | Self::Pcm16000 => 2,
            Self::Mulaw8000 | Self::Alaw8000 => 1,
        }
    }
}

/// What a session asks for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct LiveSession {
    /// What is asked for each utterance. Which times and probabilities a recording has is not.
    #[serde(flatten)]
    pub speech: SpeechParameters,
    /// How the end of an utterance is found. `None`: at a pause that is about as long as `delay_ms`.
    #[serde(default)]
    pub turn_detection: Option<TurnDetection>,
    /// Without turn detection: how long text waits until it is final.
    #[serde(default)]
    pub delay_ms: u32,
}

/// How turns are detected.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct TurnDetection {
    /// The pause that ends an utterance.
    pub silence_ms: u32,
    /// The sound before the onset of speech that belongs to the utterance.
    pub prefix_ms: u32,
    /// How loud speech has to be, 0 to 1; 0.5 is usual.
    pub threshold: f32,
}

impl TurnDetection {
    /// How they are detected unless a client says otherwise.
    pub const USUAL: Self = Self { silence_ms: 500, prefix_ms: 300, threshold: 0.5 };
}

impl LiveSession {
    /// How utterances are found in the sound.
    pub fn detection(&self) -> TurnDetection {
        let by_pauses = TurnDetection { silence_ms: self.delay_ms, ..TurnDetection::USUAL };
        self.turn_detection.unwrap_or(by_pauses)
    }
}

/// What happens behind a part of the sound. The names are stored in rows: never rename one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LiveMark {
    /// The utterance ends.
    Commit,
    /// The sound of the open utterance is dropped.
    Clear,
    /// Another session applies to what follows.
    Session {
        /// The session.
        session: LiveSession,
    },
    /// The sound is over.
    End,
}

/// What a session says. Times are milliseconds from its first sample, and `item` is the number of an utterance, from 1. The names
/// are stored in rows: never rename one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the variants say what the fields are")]
pub enum LiveEvent {
    /// An utterance begins.
    SpeechStarted { item: u32, start_ms: u64 },
    /// The pause behind an utterance is long enough.
    SpeechStopped { item: u32, end_ms: u64 },
    /// An utterance is over. Its text follows.
    Committed { item: u32, start_ms: u64, end_ms: u64 },
    /// Further text of an utterance, with the space before it. It does not change any more.
    Delta { item: u32, text: String },
    /// The whole text of an utterance: that of its deltas.
    Completed(LiveUtterance),
    /// Further text of the translation of an utterance, the sound of which ends then.
    TranslationDelta { item: u32, text: String, end_ms: u64 },
    /// An utterance has no text, because something failed.
    Failed { item: u32, code: String, detail: String },
    /// The sound of the open utterance is dropped.
    Cleared,
}

/// An utterance with its text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct LiveUtterance {
    /// Its number, from 1.
    pub item: u32,
    /// The beginning of its sound.
    pub start_ms: u64,
    /// The end of its sound.
    pub end_ms: u64,
    /// The text. Empty if nothing is said.
    pub text: String,
    /// Its words, with times in seconds from the first sample of the session.
    pub words: Vec<Word>,
    /// The expected share of the text's letters that are right, 0 to 1. `None` if the model does not tell it.
    pub confidence: Option<f64>,
    /// The language that it was recognised in.
    pub lang: Language,
    /// The language that was detected. `None` if none was.
    pub language: Option<Language>,
    /// The text in the other language, if a translation is requested.
    pub translation: Option<String>,
    /// What is unusual about it.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// What a session would say next about the open utterance, and may still change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct LivePreview {
    /// The number of the utterance.
    pub item: u32,
    /// All of its text, as it seems now.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_stored_has_these_names() {
        let format = |format: SoundFormat| serde_json::to_value(format).unwrap();
        assert_eq!(format(SoundFormat::Pcm24000), "pcm24000");
        assert_eq!(format(SoundFormat::Mulaw8000), "mulaw8000");
        assert_eq!(serde_json::to_value(LiveMark::End).unwrap(), json!({"kind": "end"}));
        let delta = LiveEvent::Delta { item: 2, text: " b".to_owned() };
        assert_eq!(serde_json::to_value(&delta).unwrap(), json!({"kind": "delta", "item": 2, "text": " b"}));
        let mark = json!({"kind": "session", "session": {"lang": "pa"}});
        assert!(
            matches!(serde_json::from_value(mark).unwrap(), LiveMark::Session { session } if session.speech.lang == Language::Panjabi)
        );
    }
}
