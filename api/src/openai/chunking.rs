//! How OpenAI's API cuts a recording: as text, as an object, or as an object whose members are fields of the form.

use serde_json::json;

use crate::{
    input::value::{Rule, Value, choices, rule},
    problems::Code,
};

/// A way to cut a recording into chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunking {
    /// The server decides, as it does here in any case.
    Auto,
    /// At pauses, with settings that have no effect here.
    ServerVad,
}

/// The member `type` of a way that is an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ServerVad;

const SERVER_VAD: &str = "server_vad";

choices! {
    ServerVad: |_: Self| SERVER_VAD, None;
}

impl ServerVad {
    const ALL: [Self; 1] = [Self];
}

impl Value for Chunking {
    fn rule() -> Rule {
        rule(
            r#"auto or an object such as {"type":"server_vad"}"#,
            json!({"type": "string", "pattern": r#"^(auto|\{"type": ?"server_vad"\})$"#}),
        )
    }

    fn parse(text: &str) -> Result<Self, Code> {
        let is_vad = |value: &serde_json::Value| value["type"] == SERVER_VAD;
        match text {
            "auto" => Ok(Self::Auto),
            _ if serde_json::from_str(text).is_ok_and(|value| is_vad(&value)) => Ok(Self::ServerVad),
            _ => Err(Code::NotAChoice),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_to_cut_is_auto_or_an_object() {
        for (text, expected) in [
            ("auto", Ok(Chunking::Auto)),
            (r#"{"type":"server_vad","threshold":0.4}"#, Ok(Chunking::ServerVad)),
            (r#"{"type":"semantic"}"#, Err(Code::NotAChoice)),
            ("server_vad", Err(Code::NotAChoice)),
            ("[]", Err(Code::NotAChoice)),
            ("", Err(Code::NotAChoice)),
        ] {
            assert_eq!(Chunking::parse(text), expected, "{text}");
        }
    }
}
