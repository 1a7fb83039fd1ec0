//! The operations of the service, and the queue that the jobs of each wait in.

use akhar_jobs::Queue;
use serde::{Deserialize, Serialize};

use crate::{LIVE, QUICK, SPEECH};

/// An operation of the service. The names are those in the request paths and are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Says which of the 41 letters an image shows.
    AlphabetRecognition,
    /// Says which of the ten digits an image shows.
    DigitRecognition,
    /// Writes Panjabi text by hand, as the strokes of a pen or as a picture of them.
    HandwritingGenerator,
    /// Transcribes sound while it arrives.
    LiveTranscription,
    /// Transcribes a recording of speech.
    SpeechRecognition,
    /// Translates a text between Panjabi and English.
    Translation,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 6] = [
        Self::AlphabetRecognition,
        Self::DigitRecognition,
        Self::HandwritingGenerator,
        Self::LiveTranscription,
        Self::SpeechRecognition,
        Self::Translation,
    ];

    /// The name in request paths and in rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AlphabetRecognition => "alphabet-recognition",
            Self::DigitRecognition => "digit-recognition",
            Self::HandwritingGenerator => "handwriting-generator",
            Self::LiveTranscription => "live-transcription",
            Self::SpeechRecognition => "speech-recognition",
            Self::Translation => "translation",
        }
    }

    /// The queue that the operation's jobs wait in.
    pub const fn queue(self) -> Queue {
        match self {
            Self::AlphabetRecognition | Self::DigitRecognition | Self::HandwritingGenerator => QUICK,
            Self::LiveTranscription => LIVE,
            Self::SpeechRecognition | Self::Translation => SPEECH,
        }
    }

    /// Whether a request asks for it with a form. A session of [`Self::LiveTranscription`] is a socket.
    pub const fn has_form(self) -> bool {
        !matches!(self, Self::LiveTranscription)
    }
}
