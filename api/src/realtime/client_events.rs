//! The events of a client: the text of a frame comes in, and what it asks for goes out.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Value};

use super::fields::wrong_type;
use crate::{
    input::names::quoted,
    problems::{Code, Violation},
};

/// What a client asks for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum ClientEvent {
    /// Other values of the session.
    Update { session: Value, is_former: bool },
    /// Further sound.
    Append(Vec<u8>),
    /// The utterance ends.
    Commit,
    /// The sound of the open utterance is dropped.
    Clear,
    /// The session ends.
    Close,
}

/// The types of events of a transcription, and those of a translation.
const TYPES: &str =
    "session.update, input_audio_buffer.append, input_audio_buffer.commit or input_audio_buffer.clear";
const TRANSLATION_TYPES: &str = "session.update, session.input_audio_buffer.append or session.close";

/// Reads an event, and the id that the client has given it. Fields that are not known are ignored.
pub(super) fn parse(text: &str, is_translation: bool) -> (Option<String>, Result<ClientEvent, Violation>) {
    let event: Map<String, Value> = match serde_json::from_str(text) {
        Ok(event) => event,
        Err(error) => {
            let detail = format!("event is not one JSON object: {error}");
            return (None, Err(Violation::new("event", Code::WrongType, detail)));
        }
    };
    let event_id = event.get("event_id").and_then(Value::as_str).map(|id| id.chars().take(512).collect());
    (event_id, event_of(event, is_translation))
}

fn event_of(mut event: Map<String, Value>, is_translation: bool) -> Result<ClientEvent, Violation> {
    let text = |name: &'static str| match event.get(name) {
        Some(Value::String(text)) => Ok(text.as_str()),
        None => Err(Violation::new(name, Code::Missing, format!("{name} is missing, expected a string"))),
        Some(other) => Err(wrong_type(name, other, "a string")),
    };
    Ok(match (text("type")?, is_translation) {
        (kind @ "session.update", _) | (kind @ "transcription_session.update", false) => {
            let is_former = kind.starts_with('t');
            ClientEvent::Update { session: event.remove("session").unwrap_or_default(), is_former }
        }
        ("input_audio_buffer.append", false) | ("session.input_audio_buffer.append", true) => {
            let sound = BASE64_STANDARD.decode(text("audio")?);
            ClientEvent::Append(sound.map_err(|error| {
                let detail = format!("audio is not base64 (RFC 4648): {error}");
                Violation::new("audio", Code::WrongType, detail)
            })?)
        }
        ("input_audio_buffer.commit", false) => match event.get("final") {
            Some(Value::Bool(true)) => ClientEvent::Close,
            None | Some(Value::Null | Value::Bool(false)) => ClientEvent::Commit,
            Some(other) => return Err(wrong_type("final", other, "true or false")),
        },
        ("input_audio_buffer.clear", false) => ClientEvent::Clear,
        ("session.close", true) => ClientEvent::Close,
        (other, _) => {
            let types = if is_translation { TRANSLATION_TYPES } else { TYPES };
            let detail = format!("type is {}, expected {types}", quoted(other));
            return Err(Violation::new("type", Code::NotAChoice, detail));
        }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_violation_names_its_field_and_its_event() {
        for (event, field, code) in [
            (json!({"type": "response.create", "event_id": "e"}), "type", "not_a_choice"),
            (
                json!({"type": "input_audio_buffer.append", "audio": "AAA", "event_id": "e"}),
                "audio",
                "wrong_type",
            ),
            (
                json!({"type": "input_audio_buffer.append", "audio": 1, "event_id": "e"}),
                "audio",
                "wrong_type",
            ),
            (json!({"type": "input_audio_buffer.append", "event_id": "e"}), "audio", "missing"),
            (json!({"event_id": "e"}), "type", "missing"),
            (
                json!({"type": "input_audio_buffer.commit", "final": "true", "event_id": "e"}),
                "final",
                "wrong_type",
            ),
        ] {
            let (event_id, read) = parse(&event.to_string(), false);
            let Violation { field: found, code: why, .. } = read.unwrap_err();
            assert_eq!(
                (found.as_str(), why.as_str(), event_id.as_deref()),
                (field, code, Some("e")),
                "{event}"
            );
        }
        assert_eq!(parse("[]", false).1.unwrap_err().field, "event");
    }

    proptest! {
        #[test]
        fn sound_arrives_as_it_was_sent(bytes: Vec<u8>, id in ".{0,40}") {
            let audio = BASE64_STANDARD.encode(&bytes);
            let event = json!({"type": "input_audio_buffer.append", "audio": audio, "event_id": id, "x": 1});
            prop_assert_eq!(parse(&event.to_string(), false), (Some(id), Ok(ClientEvent::Append(bytes))));
        }

        #[test]
        fn any_text_is_an_event_or_a_violation(text: String) {
            let _ = parse(&text, true);
        }
    }
}
