//! A session that transcribes.

use akhar_requests::{
    Digits, SpeechParameters,
    live::{LiveSession, SoundFormat},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::fields::{Audio, Delay, FormatKind, Include, Kind, TextForm, Turns, checked, merged};
use crate::{
    openai::options::Model,
    problems::{Code, Violation},
};

/// The former names of formats.
const FORMER_FORMATS: [(FormatKind, &str); 3] =
    [(FormatKind::Pcm, "pcm16"), (FormatKind::Mulaw, "g711_ulaw"), (FormatKind::Alaw, "g711_alaw")];

/// The session as its client has asked for it, by the present names.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(super) struct TranscriptionSession {
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(default)]
    audio: Audio,
    pub(super) include: Option<Vec<Include>>,
}

impl TranscriptionSession {
    /// The same with this model, if it has none.
    pub(super) fn with_model(mut self, model: Model) -> Self {
        let transcription = self.audio.input.transcription.get_or_insert_default();
        transcription.model.get_or_insert_with(|| model.id().to_owned());
        self
    }

    /// The session after an update. Only what the update names changes, and `null` turns a part off.
    pub(super) fn updated(&self, update: Value, is_former: bool) -> Result<Self, Violation> {
        let update = if is_former { renamed(update)? } else { update };
        let mut session: Self = merged(self, update)?;
        session.audio.input.check_rate()?;
        session.live()?;
        Ok(session)
    }

    /// What it asks of a worker.
    pub(super) fn live(&self) -> Result<LiveSession, Violation> {
        let input = &self.audio.input;
        let asked = input.transcription.clone().unwrap_or_default();
        let of_name = |name: &str| checked::<Model>("session.audio.input.transcription.model", name);
        let model = asked.model.as_deref().map(of_name).transpose()?;
        let language = asked.language(model)?;
        let is_auto = language.is_none() && input.transcription.is_some();
        let is_written = asked.format == Some(TextForm::Written);
        if asked.digits == Some(Digits::Gurmukhi) && !is_written {
            let field = "session.audio.input.transcription.digits";
            let detail = format!("{field} gurmukhi needs format written, but format is spoken");
            return Err(Violation::new(field, Code::Unsupported, detail));
        }
        Ok(LiveSession {
            speech: SpeechParameters {
                lang: language.unwrap_or_default(),
                detect_language: is_auto,
                with_translation: asked.with_translation.unwrap_or_default(),
                keyterms: asked.keyterms()?,
                script: asked.script.unwrap_or_default(),
                written: is_written.then(|| asked.digits.unwrap_or(Digits::Latin)),
                ..SpeechParameters::default()
            },
            turn_detection: input.turn_detection.as_ref().map(Turns::detection).transpose()?,
            delay_ms: match asked.delay {
                Some(delay) => delay.ms(),
                None if model.is_none_or(Model::is_live) => Delay::Medium.ms(),
                None => u32::MAX, // its client says where utterances end
            },
        })
    }

    pub(super) const fn sound_format(&self) -> SoundFormat {
        let format = &self.audio.input.format;
        match (format.kind, format.rate) {
            (FormatKind::Pcm, Some(16_000)) => SoundFormat::Pcm16000,
            (FormatKind::Pcm, _) => SoundFormat::Pcm24000,
            (FormatKind::Mulaw, _) => SoundFormat::Mulaw8000,
            (FormatKind::Alaw, _) => SoundFormat::Alaw8000,
        }
    }

    /// The session as a client of the present or the former names gets it.
    pub(super) fn shown(&self, id: &str, is_former: bool) -> Value {
        let mut shown = json!(self);
        shown["audio"]["input"]["turn_detection"] =
            json!(self.audio.input.turn_detection.as_ref().map(Turns::effective));
        if !is_former {
            shown["id"] = json!(id);
            shown["object"] = json!("realtime.transcription_session");
            return shown;
        }
        let format = FORMER_FORMATS.iter().find(|(kind, _)| *kind == self.audio.input.format.kind);
        let input = &mut shown["audio"]["input"];
        json!({
            "id": id,
            "object": "realtime.transcription_session",
            "input_audio_format": format.map(|(_, name)| name),
            "input_audio_transcription": input["transcription"].take(),
            "input_audio_noise_reduction": null,
            "turn_detection": input["turn_detection"].take(),
            "include": shown["include"].take(),
        })
    }
}

/// An update by the former names, by the present ones.
fn renamed(mut update: Value) -> Result<Value, Violation> {
    let mut renamed = json!({"audio": {"input": {}}});
    let mut former = |name: &str| update.as_object_mut().and_then(|update| update.remove(name));
    for (name, present) in
        [("input_audio_transcription", "transcription"), ("turn_detection", "turn_detection")]
    {
        if let Some(value) = former(name) {
            renamed["audio"]["input"][present] = value;
        }
    }
    if let Some(sent) = former("input_audio_format") {
        let Some((kind, _)) = FORMER_FORMATS.iter().find(|(_, name)| sent == *name) else {
            let field = "session.input_audio_format";
            let detail = format!("{field} is {sent}, expected pcm16, g711_ulaw or g711_alaw");
            return Err(Violation::new(field, Code::NotAChoice, detail));
        };
        renamed["audio"]["input"]["format"] = json!({"type": kind});
    }
    if let Some(include) = former("include") {
        renamed["include"] = include;
    }
    Ok(renamed)
}

#[cfg(test)]
mod tests {
    use akhar_requests::Language;

    use super::*;

    fn updated(update: Value) -> Result<TranscriptionSession, Violation> {
        TranscriptionSession::default().updated(update, false)
    }

    #[test]
    fn only_what_an_update_names_changes() {
        let update = json!({"audio": {"input": {"transcription": {"model": "gpt-live-transcribe", "language": "pa"}, "turn_detection": null}}});
        let session = updated(update.clone()).unwrap();
        let shown = session.shown("sess_1", false);
        let input = &shown["audio"]["input"];
        assert_eq!(input["transcription"], json!({"model": "gpt-live-transcribe", "language": "pa"}));
        assert_eq!((&input["turn_detection"], &input["format"]["rate"]), (&Value::Null, &json!(24_000)));
        assert_eq!(session.updated(update, false), Ok(session.clone()), "the same update changes nothing");
        let former = json!({"input_audio_transcription": {"model": "gpt-live-transcribe", "language": "pa"}, "turn_detection": null});
        assert_eq!(TranscriptionSession::default().updated(former, true), Ok(session.clone()));
        let shown = session.shown("sess_1", true);
        assert_eq!((&shown["input_audio_format"], &shown["turn_detection"]), (&json!("pcm16"), &Value::Null));
    }

    #[test]
    fn a_violation_names_the_field() {
        let input = |input: Value| json!({"audio": {"input": input}});
        for (update, field) in [
            (json!({"type": "realtime"}), "session.type"),
            (json!({"include": ["x"]}), "session.include[0]"),
            (input(json!({"format": {"type": "audio/mp3"}})), "session.audio.input.format.type"),
            (
                input(json!({"format": {"type": "audio/pcm", "rate": 8000}})),
                "session.audio.input.format.rate",
            ),
            (input(json!({"transcription": {"model": "llama"}})), "session.audio.input.transcription.model"),
            (
                input(json!({"transcription": {"language": "fr"}})),
                "session.audio.input.transcription.language",
            ),
            (
                input(json!({"transcription": {"languages": ["pa", "xx"]}})),
                "session.audio.input.transcription.languages[1]",
            ),
            (
                input(json!({"transcription": {"model": "speech-pa", "language": "en"}})),
                "session.audio.input.transcription.language",
            ),
            (
                input(json!({"transcription": {"digits": "gurmukhi"}})),
                "session.audio.input.transcription.digits",
            ),
            (
                input(json!({"turn_detection": {"silence_duration_ms": 5}})),
                "session.audio.input.turn_detection.silence_duration_ms",
            ),
            (
                input(json!({"turn_detection": {"threshold": 2}})),
                "session.audio.input.turn_detection.threshold",
            ),
        ] {
            assert_eq!(updated(update.clone()).unwrap_err().field, field, "{update}");
        }
        assert!(TranscriptionSession::default().updated(json!({"input_audio_format": "mp3"}), true).is_err());
    }

    #[test]
    fn a_violation_says_what_came_and_what_was_expected() {
        let input = |input: Value| json!({"audio": {"input": input}});
        for (update, detail) in [
            (json!({"audio": 5}), "session.audio is 5 (a number), expected an object"),
            (json!({"include": "x"}), "session.include is \"x\" (a string), expected an array"),
            (
                json!({"include": ["x"]}),
                "session.include[0] is \"x\" (a string), expected one of `item.input_audio_transcription.logprobs`, `akhar.hypothesis`, `akhar.stored`",
            ),
            (
                input(json!({"format": "pcm16"})),
                "session.audio.input.format is \"pcm16\" (a string), expected an object",
            ),
            (
                input(json!({"turn_detection": {"threshold": "0.5"}})),
                "session.audio.input.turn_detection.threshold is \"0.5\" (a string), expected a number",
            ),
            (
                input(json!({"turn_detection": {"silence_duration_ms": -1}})),
                "session.audio.input.turn_detection.silence_duration_ms is -1 (a number), expected a whole number from 0 to 4294967295",
            ),
            (
                input(json!({"turn_detection": {"type": true}})),
                "session.audio.input.turn_detection.type is true (a boolean), expected a string",
            ),
            (
                input(json!({"transcription": {"with-translation": "yes"}})),
                "session.audio.input.transcription.with-translation is \"yes\" (a string), expected a boolean",
            ),
        ] {
            assert_eq!(updated(update).unwrap_err().detail, detail);
        }
    }

    #[test]
    fn a_session_asks_for_what_its_client_says() {
        let live = |input: Value| updated(json!({"audio": {"input": input}})).unwrap().live().unwrap();
        let silent = TranscriptionSession::default().live().unwrap();
        assert_eq!((silent.speech.lang, silent.speech.detect_language), (Language::Panjabi, false));
        let any = live(json!({"transcription": {"model": "gpt-transcribe"}}));
        assert!(any.speech.detect_language);
        let english = live(json!({"transcription": {"model": "speech-en", "keywords": ["Akhar", "22"]}}));
        assert_eq!(
            (english.speech.lang, english.speech.detect_language, english.speech.keyterms.len()),
            (Language::English, false, 1)
        );
        let off = |model: &str| {
            live(json!({"turn_detection": null, "transcription": {"model": model, "language": "pa"}}))
                .delay_ms
        };
        assert_eq!(
            (off("gpt-realtime-whisper"), off("speech-pa"), off("gpt-4o-transcribe")),
            (500, 500, u32::MAX)
        );
    }

    #[test]
    fn what_a_client_does_not_ask_for_follows_from_what_it_asks_for() {
        let turns = |turns: Value| json!({"audio": {"input": {"turn_detection": turns}}});
        let semantic = |eagerness: &str| turns(json!({"type": "semantic_vad", "eagerness": eagerness}));
        let mut session = TranscriptionSession::default();
        for (update, silence_ms) in [
            (semantic("high"), 300),
            (semantic("low"), 1000),
            (semantic("auto"), 500),
            (turns(json!({"type": "server_vad", "silence_duration_ms": 700})), 700),
            (semantic("high"), 300),
            (turns(json!({"type": "server_vad"})), 700),
            (turns(json!({"threshold": 0.3})), 700),
        ] {
            session = session.updated(update.clone(), false).unwrap();
            assert_eq!(session.live().unwrap().turn_detection.unwrap().silence_ms, silence_ms, "{update}");
            let shown = session.shown("sess_1", false)["audio"]["input"]["turn_detection"].take();
            assert_eq!(shown["silence_duration_ms"], silence_ms, "{update}");
        }
        let shown = session.shown("sess_1", true);
        assert_eq!(
            shown["turn_detection"],
            json!({"type": "server_vad", "threshold": 0.3,
            "prefix_padding_ms": 300, "silence_duration_ms": 700, "eagerness": "high"})
        );
    }
}
