//! What a session asks for, as the cutter and the recogniser of recordings take it.

use akhar_requests::{
    Channels, SpeechParameters, SubtitleSize,
    live::{LiveSession, TurnDetection},
};

use super::cutter::CutterSettings;

/// Without turn detection: the sound before the onset of speech, milliseconds, and how loud speech has to be.
const PREFIX_MS: u32 = 300;
const THRESHOLD: f32 = 0.5;

/// How a session is cut.
pub(super) fn cutter_settings(session: &LiveSession) -> CutterSettings {
    match session.turn_detection {
        Some(TurnDetection { silence_ms, prefix_ms, threshold }) => {
            CutterSettings { silence_ms, prefix_ms, threshold }
        }
        None => CutterSettings { silence_ms: session.delay_ms, prefix_ms: PREFIX_MS, threshold: THRESHOLD },
    }
}

/// The parameters of a recording that is as an utterance of the session.
pub(super) fn as_recording(session: &LiveSession) -> SpeechParameters {
    SpeechParameters {
        lang: session.lang,
        detect_language: session.detect_language,
        with_translation: session.with_translation,
        translate_into: session.translate_into,
        with_timestamps: true,
        with_words: true,
        with_confidence: true,
        written: session.written,
        script: session.script,
        subtitles: SubtitleSize::default(),
        channels: Channels::Mixed,
        keyterms: Vec::new(), // these were for the recogniser
    }
}
