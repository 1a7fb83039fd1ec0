//! The answer to a speech recognition: words and times come in, the contract's own response goes out.

use akhar_jobs::Segment;
use serde::Serialize;
use utoipa::ToSchema;

/// What a recording says.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Transcription)]
pub(crate) struct TranscriptionBody {
    /// All of it, in Unicode's NFC; empty where nothing is said.
    #[schema(example = "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ")]
    transcription: String,
    /// The same in the other language; with `with-translation` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "Hello")]
    translation: Option<String>,
    /// When what is said, in order; with `with-timestamps` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    timestamps: Option<Vec<SegmentBody>>,
}

/// Words said together.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Segment)]
pub(crate) struct SegmentBody {
    /// When they begin, seconds from the recording's start, to the millisecond.
    #[schema(example = 0.24, minimum = 0)]
    start: f64,
    /// When they end.
    #[schema(example = 1.36, minimum = 0)]
    end: f64,
    /// What is said.
    transcription: String,
    /// The same in the other language; with `with-translation` alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    translation: Option<String>,
}

impl TranscriptionBody {
    pub(crate) fn new(
        transcription: String,
        translation: Option<String>,
        timestamps: Option<Vec<Segment>>,
    ) -> Self {
        let body = |s: Segment| SegmentBody {
            start: s.start,
            end: s.end,
            transcription: s.transcription,
            translation: s.translation,
        };
        Self {
            transcription,
            translation,
            timestamps: timestamps.map(|all| all.into_iter().map(body).collect()),
        }
    }
}
