//! The form of a speech recognition request.

use akhar_client::MAX_RECORDING_BYTES;
use akhar_jobs::{Language, MediaType, Queue, SpeechParameters};
use serde_json::json;

use crate::{
    input::{
        field::{File, field},
        fields::fields,
        form::Form,
    },
    problems::Violation,
};

fields! {
    /// The fields of a speech recognition request.
    SpeechForm {
        /// The language that is spoken in the recording.
        lang: Language = field("lang").or("pa").wrong("fr"),
        /// Whether to translate the text: Panjabi into English, English into Panjabi.
        with_translation: bool = field("with-translation").or("false"),
        /// Whether to return the segments with their times.
        with_timestamps: bool = field("with-timestamps").or("false"),
    }
}

impl Form for SpeechForm {
    const FILE: Option<File> = Some(File {
        text: "A recording, at most 2 × 1024² bytes.",
        max_bytes: Some(MAX_RECORDING_BYTES),
        types: MediaType::MP3_AND_WAV,
        if_other: Some("POST /v1/audio/transcriptions takes more formats"),
        if_larger: Some(
            "POST /v1/audio/transcriptions takes larger recordings, and `akhar transcribe` cuts long ones",
        ),
    });
    const QUEUE: Queue = Queue::Speech;
    type Checked = SpeechParameters;

    fn check(self, _: &mut Vec<Violation>) -> Option<SpeechParameters> {
        Some(SpeechParameters {
            lang: self.lang?,
            with_translation: self.with_translation?,
            with_timestamps: self.with_timestamps?,
            with_words: false,
            with_confidence: false,
        })
    }

    fn example() -> Option<serde_json::Value> {
        Some(json!({"file": "(the bytes of an mp3 or wav file)", "lang": "pa"}))
    }
}
