//! The operations: what a caller can ask for, and the queue each waits in.

use serde::{Deserialize, Serialize};

use crate::Queue;

/// The operations, named as their paths name them. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Which of the 41 letters an image shows.
    AlphabetRecognition,
    /// Which of the ten digits an image shows.
    DigitRecognition,
    /// Panjabi text as the strokes of a pen, or as a picture of them.
    HandwritingGenerator,
    /// What a recording says.
    SpeechRecognition,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 4] = [
        Self::AlphabetRecognition,
        Self::DigitRecognition,
        Self::HandwritingGenerator,
        Self::SpeechRecognition,
    ];

    /// The stored and public name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AlphabetRecognition => "alphabet-recognition",
            Self::DigitRecognition => "digit-recognition",
            Self::HandwritingGenerator => "handwriting-generator",
            Self::SpeechRecognition => "speech-recognition",
        }
    }

    /// The queue its jobs wait in.
    pub const fn queue(self) -> Queue {
        match self {
            Self::AlphabetRecognition | Self::DigitRecognition | Self::HandwritingGenerator => Queue::Quick,
            Self::SpeechRecognition => Queue::Speech,
        }
    }
}
