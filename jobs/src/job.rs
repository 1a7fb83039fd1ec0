//! What a caller asked for, from acceptance to its end.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Outcome, Queue, Timing};

/// A job's identity: a UUIDv7, so ids sort by the time of acceptance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, sqlx::Type)]
#[sqlx(transparent)]
#[serde(transparent)]
pub struct JobId(pub Uuid);

impl std::fmt::Display for JobId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

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

/// How many predictions a caller wants: 1 to 5, 3 unless told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct TopK(u8);

/// A `top-k` outside 1 to 5.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("top-k is {0}, expected an integer from 1 to 5")]
pub struct TopKError(u8);

impl TopK {
    /// The number itself.
    pub const fn get(self) -> usize {
        self.0 as usize
    }
}

impl Default for TopK {
    fn default() -> Self {
        Self(3)
    }
}

impl TryFrom<u8> for TopK {
    type Error = TopKError;
    fn try_from(k: u8) -> Result<Self, TopKError> {
        if (1..=5).contains(&k) { Ok(Self(k)) } else { Err(TopKError(k)) }
    }
}

impl From<TopK> for u8 {
    fn from(k: TopK) -> Self {
        k.0
    }
}

/// An operation with its parameters, as the api parsed them; nothing is checked again after this.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum Parameters {
    /// Letters.
    AlphabetRecognition {
        /// Predictions wanted.
        top_k: TopK,
    },
    /// Digits.
    DigitRecognition {
        /// Predictions wanted.
        top_k: TopK,
    },
    /// Handwriting.
    HandwritingGenerator(Handwriting),
    /// Speech.
    SpeechRecognition(Speech),
}

/// What is wanted of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Speech {
    /// The language spoken in it.
    pub lang: Language,
    /// Its text in the other language is wanted.
    #[serde(default)]
    pub with_translation: bool,
    /// Segments with their times are wanted.
    pub with_timestamps: bool,
}

/// The languages that are understood. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Language {
    /// Panjabi.
    #[default]
    #[serde(rename = "pa")]
    Panjabi,
    /// English.
    #[serde(rename = "en")]
    English,
}

impl Language {
    /// Every language.
    pub const ALL: [Self; 2] = [Self::Panjabi, Self::English];

    /// What is translated into.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Panjabi => Self::English,
            Self::English => Self::Panjabi,
        }
    }

    /// Its ISO 639-1 code.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Panjabi => "pa",
            Self::English => "en",
        }
    }
}

/// What is to be written, and how. Lengths are page units, which are pixels of the picture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Handwriting {
    /// 2 to 100 scalar values, NFC, of the characters the contract allows.
    pub text: String,
    /// Between baselines, 120 to 150.
    pub line_space: f64,
    /// Between characters, 30 to 50.
    pub char_space: f64,
    /// Between words, 70 to 100.
    pub word_space: f64,
    /// 300 to 950.
    pub page_width: f64,
    /// 300 to 950.
    pub page_length: f64,
    /// The picture that is wanted beside the strokes, if one is.
    pub picture: Option<Picture>,
}

/// How a picture of handwriting looks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Picture {
    /// The ink.
    pub stroke_color: StrokeColor,
    /// The pen's width, 1 to 8.
    pub stroke_width: f64,
}

/// The inks there are. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "their names say it")]
pub enum StrokeColor {
    Black,
    Blue,
    Pink,
    Green,
    Yellow,
    Brown,
}

impl StrokeColor {
    /// Every ink.
    pub const ALL: [Self; 6] = [Self::Black, Self::Blue, Self::Pink, Self::Green, Self::Yellow, Self::Brown];

    /// As the contract names it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Black => "black",
            Self::Blue => "blue",
            Self::Pink => "pink",
            Self::Green => "green",
            Self::Yellow => "yellow",
            Self::Brown => "brown",
        }
    }
}

impl Parameters {
    /// Which operation these are for.
    pub const fn operation(&self) -> Operation {
        match self {
            Self::AlphabetRecognition { .. } => Operation::AlphabetRecognition,
            Self::DigitRecognition { .. } => Operation::DigitRecognition,
            Self::HandwritingGenerator(_) => Operation::HandwritingGenerator,
            Self::SpeechRecognition(_) => Operation::SpeechRecognition,
        }
    }
}

/// What an upload's first bytes say it is. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MediaType {
    /// PNG.
    #[serde(rename = "image/png")]
    Png,
    /// JPEG.
    #[serde(rename = "image/jpeg")]
    Jpeg,
    /// MPEG audio, layer 3.
    #[serde(rename = "audio/mpeg")]
    Mp3,
    /// RIFF WAVE.
    #[serde(rename = "audio/wav")]
    Wav,
}

impl MediaType {
    /// The IANA name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Mp3 => "audio/mpeg",
            Self::Wav => "audio/wav",
        }
    }

    /// The type with this IANA name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Png, Self::Jpeg, Self::Mp3, Self::Wav].into_iter().find(|t| t.name() == name)
    }
}

/// A caller's file: within the operation's size, its type proven by its first bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// Proven type.
    pub media_type: MediaType,
    /// The file as received.
    pub bytes: Vec<u8>,
}

/// A job about to be submitted.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// Made by the api, so that it can wait before the job exists.
    pub id: JobId,
    /// `api_keys.id` of the caller.
    pub caller_id: Uuid,
    /// What to do.
    pub parameters: Parameters,
    /// What to do it on.
    pub upload: Option<Upload>,
    /// The request's id, for every log line about the job.
    pub request_id: String,
    /// W3C trace context of the request.
    pub traceparent: Option<String>,
    /// Nobody holds a connection open for it: it yields to jobs somebody waits for.
    pub asynchronous: bool,
}

/// Where a job is in its life. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum JobState {
    /// Waiting for a worker.
    Queued,
    /// A worker has it.
    Running,
    /// Ended with an answer.
    Succeeded,
    /// Ended without one: the input was refused or the service failed.
    Failed,
    /// Ended before it started, by its caller.
    Cancelled,
}

impl JobState {
    /// The stored and public name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Nothing changes after this.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled)
    }
}

/// A job as its caller may see it.
#[derive(Debug, Clone)]
pub struct Job {
    /// Its identity.
    pub id: JobId,
    /// What it does.
    pub operation: Operation,
    /// Where it is.
    pub state: JobState,
    /// Claims so far.
    pub attempt: i32,
    /// Acceptance.
    pub created_at: DateTime<Utc>,
    /// Last claim.
    pub started_at: Option<DateTime<Utc>>,
    /// End.
    pub ended_at: Option<DateTime<Utc>>,
    /// How it ended; none while it has not, and none when cancelled.
    pub outcome: Option<Outcome>,
    /// What its last attempt took.
    pub timing: Option<Timing>,
    /// Seconds of its recording that are transcribed, while and after it runs.
    pub transcribed_s: Option<f64>,
}
