//! The events of the server: what the worker says of a session comes in, and the events of OpenAI's API that tell it go out, by the
//! present or the former names.

use akhar_jobs::JobId;
use akhar_requests::live::{LiveEvent, LivePreview, LiveUtterance};
use serde_json::{Value, json};

use super::{PATH, fields::Include, session::Session, translation::TranslationSession};
use crate::{
    openai::response::{logprobs, usage},
    problems::{Problem, Violation},
};

/// Which event of a session a client has seen last: the number of what the worker said, and which of its events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct EventPlace {
    pub(super) n: i64,
    part: usize,
}

impl EventPlace {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (n, part) = text.strip_prefix("event_")?.split_once('_')?;
        Some(Self { n: n.parse().ok().filter(|n| *n > 0)?, part: part.parse().ok()? })
    }

    fn id(self) -> String {
        format!("event_{}_{}", self.n, self.part)
    }
}

/// Writes the events of one connection.
#[derive(Debug)]
pub(super) struct Events {
    session_id: JobId,
    pub(super) is_former: bool,
    /// Of a translation: whether there is text already, that was spoken and that is translated, and where the last utterance ends.
    has_text: [bool; 2],
    end_ms: u64,
    /// The number of events that are not what the worker said.
    n_own: u64,
}

impl Events {
    pub(super) const fn new(session_id: JobId, is_former: bool, seen: EventPlace) -> Self {
        Self { session_id, is_former, has_text: [seen.n > 0; 2], end_ms: 0, n_own: 0 }
    }

    /// An event about the connection.
    fn own(&mut self, kind: &str, mut event: Value) -> Value {
        self.n_own += 1;
        event["type"] = json!(kind);
        event["event_id"] = json!(format!("event_c{}", self.n_own));
        event
    }

    /// The session is `created` or `updated`.
    pub(super) fn session(&mut self, what: &str, session: &Session) -> Value {
        let kind = if self.is_former { "transcription_session" } else { "session" };
        let shown = session.shown(&session_text(self.session_id), self.is_former);
        self.own(&format!("{kind}.{what}"), json!({"session": shown}))
    }

    pub(super) fn cleared(&mut self) -> Value {
        self.own("input_audio_buffer.cleared", json!({}))
    }

    /// A translation is over.
    pub(super) fn closed(&mut self) -> Value {
        self.own("session.closed", json!({}))
    }

    /// So much of the sound is on disk.
    pub(super) fn stored(&mut self, ms: u64) -> Value {
        self.own("akhar.stored", json!({"audio_end_ms": ms}))
    }

    /// What the open utterance may become.
    pub(super) fn hypothesis(&mut self, preview: &LivePreview) -> Value {
        let item_id = self.item_id(preview.item);
        self.own("akhar.hypothesis", json!({"item_id": item_id, "content_index": 0, "text": preview.text}))
    }

    /// An event of the client was wrong.
    pub(super) fn violation(&mut self, violation: Violation, event_id: Option<&str>) -> Value {
        let Violation { field, code, detail } = violation;
        let error = json!({"type": "invalid_request_error", "message": detail, "param": field, "code": code});
        self.error(error, event_id)
    }

    /// The session cannot go on. `request_id` is that of the request that opened the socket.
    pub(super) fn problem(&mut self, problem: Problem, request_id: &str) -> Option<Value> {
        let error = problem.body(PATH, request_id).error?;
        Some(self.error(json!(error), None))
    }

    fn error(&mut self, mut error: Value, event_id: Option<&str>) -> Value {
        error["event_id"] = json!(event_id);
        self.own("error", json!({"error": error}))
    }

    /// The events that tell what the worker said as its nth event, but none that the client has seen.
    pub(super) fn of_worker(
        &mut self,
        (n, said): (i64, LiveEvent),
        session: &Session,
        seen: EventPlace,
    ) -> Vec<Value> {
        let mut events = match session {
            Session::Transcription(_) => self.transcribed(said, session.includes(Include::Logprobs)),
            Session::Translation(session) => self.translated(said, session).into_iter().collect(),
        };
        for (part, (kind, event)) in events.iter_mut().enumerate() {
            event["type"] = json!(kind);
            event["event_id"] = json!(EventPlace { n, part }.id());
        }
        let n_seen = if seen.n == n { seen.part.saturating_add(1) } else { 0 };
        events.into_iter().skip(n_seen).map(|(_, event)| event).collect()
    }

    fn transcribed(&self, said: LiveEvent, has_logprobs: bool) -> Vec<(&'static str, Value)> {
        let id = |item| self.item_id(item);
        let delta = |item, text| json!({"item_id": id(item), "content_index": 0, "delta": text});
        vec![match said {
            LiveEvent::Committed { item, .. } => return self.committed(item),
            LiveEvent::SpeechStarted { item, start_ms } => (
                "input_audio_buffer.speech_started",
                json!({"audio_start_ms": start_ms, "item_id": id(item)}),
            ),
            LiveEvent::SpeechStopped { item, end_ms } => {
                ("input_audio_buffer.speech_stopped", json!({"audio_end_ms": end_ms, "item_id": id(item)}))
            }
            LiveEvent::Delta { item, text } => {
                ("conversation.item.input_audio_transcription.delta", delta(item, text))
            }
            LiveEvent::TranslationDelta { item, text, .. } => ("akhar.translation.delta", delta(item, text)),
            LiveEvent::Completed(utterance) => (
                "conversation.item.input_audio_transcription.completed",
                self.completed(utterance, has_logprobs),
            ),
            LiveEvent::Failed { item, code, detail } => (
                "conversation.item.input_audio_transcription.failed",
                json!({"item_id": id(item), "content_index": 0,
                    "error": {"type": "server_error", "code": code, "message": detail, "param": null}}),
            ),
            LiveEvent::Cleared => ("input_audio_buffer.cleared", json!({})),
        }]
    }

    /// Texts are appended to those before, and times are those of the frames of OpenAI's server.
    fn translated(&mut self, said: LiveEvent, session: &TranslationSession) -> Option<(&'static str, Value)> {
        const FRAME_MS: u64 = 200;
        let (kind, which, text) = match said {
            LiveEvent::Committed { end_ms, .. } => {
                self.end_ms = end_ms;
                return None;
            }
            LiveEvent::Delta { text, .. } if session.is_transcribed() => {
                ("session.input_transcript.delta", 0, text)
            }
            LiveEvent::TranslationDelta { text, end_ms, .. } => {
                self.end_ms = end_ms; // its client may have seen what is before it on another connection
                ("session.output_transcript.delta", 1, text)
            }
            _ => return None,
        };
        let has_text = std::mem::replace(&mut self.has_text[which], true);
        let space = if has_text && !text.starts_with(' ') { " " } else { "" };
        let elapsed_ms = self.end_ms.next_multiple_of(FRAME_MS);
        Some((kind, json!({"delta": format!("{space}{text}"), "elapsed_ms": elapsed_ms})))
    }

    fn committed(&self, item: u32) -> Vec<(&'static str, Value)> {
        let ids = json!({"item_id": self.item_id(item), "previous_item_id": self.previous(item)});
        let item = json!({
            "previous_item_id": self.previous(item),
            "item": {
                "id": self.item_id(item), "object": "realtime.item", "type": "message", "status": "completed",
                "role": "user", "content": [{"type": "input_audio", "transcript": null}],
            },
        });
        let mut events = vec![("input_audio_buffer.committed", ids)];
        if self.is_former {
            events.push(("conversation.item.created", item));
        } else {
            events.push(("conversation.item.added", item.clone()));
            events.push(("conversation.item.done", item));
        }
        events
    }

    fn completed(&self, utterance: LiveUtterance, has_logprobs: bool) -> Value {
        let LiveUtterance {
            item,
            start_ms,
            end_ms,
            text,
            words,
            confidence,
            lang,
            translation,
            warnings,
            ..
        } = utterance;
        let languages = if text.is_empty() { json!([]) } else { json!([{"code": lang.code()}]) };
        let tokens = words.iter().map(|word| (word.text.as_str(), word.confidence));
        let logprobs = has_logprobs.then(|| logprobs(tokens)).flatten();
        #[expect(clippy::cast_precision_loss, reason = "a session has fewer than 2^52 milliseconds")]
        let seconds = |ms: u64| ms as f64 / 1e3;
        json!({
            "item_id": self.item_id(item), "content_index": 0, "transcript": text, "languages": languages,
            "usage": usage(seconds(end_ms - start_ms)), "logprobs": logprobs,
            "start": seconds(start_ms), "end": seconds(end_ms), "confidence": confidence,
            "words": words.into_iter().map(|word| json!({
                "word": word.text, "start": word.start, "end": word.end, "confidence": word.confidence,
            })).collect::<Vec<_>>(),
            "translation": translation, "warnings": warnings,
        })
    }

    fn item_id(&self, item: u32) -> String {
        format!("item_{}_{item}", self.session_id.0.simple())
    }

    fn previous(&self, item: u32) -> Option<String> {
        (item > 1).then(|| self.item_id(item - 1))
    }
}

/// The id of a session, which is that of its job.
pub(super) fn session_text(id: JobId) -> String {
    format!("sess_{}", id.0.simple())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::{super::transcription::TranscriptionSession, *};
    use crate::{input::value::Value as _, openai::options::Model};

    fn session() -> Session {
        Session::Transcription(TranscriptionSession::default())
    }

    #[test]
    fn what_a_client_has_seen_is_not_sent_again() {
        let mut events = Events::new(JobId(Uuid::nil()), false, EventPlace::default());
        let mut ids = |seen: EventPlace| {
            let said = LiveEvent::Committed { item: 2, start_ms: 0, end_ms: 1 };
            let told = events.of_worker((7, said), &session(), seen);
            told.into_iter().map(|event| event["event_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let all = ids(EventPlace::default());
        assert_eq!(all, ["event_7_0", "event_7_1", "event_7_2"]);
        assert_eq!(ids(EventPlace::parse(&all[1]).unwrap()), all[2..]);
        let last = format!("event_7_{}", usize::MAX);
        assert!(ids(EventPlace::parse(&last).unwrap()).is_empty());
        for odd in ["", "event_", "event_0_0", "event_1", "event_c1", "event_-1_0", "1_0"] {
            assert_eq!(EventPlace::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_translation_that_goes_on_on_another_connection_has_its_time() {
        let model = Model::parse("gpt-realtime-translate").unwrap();
        let session = Session::Translation(TranslationSession::new(model));
        let seen = EventPlace::parse("event_2_0").unwrap();
        let mut events = Events::new(JobId(Uuid::nil()), false, seen);
        let said = LiveEvent::TranslationDelta { item: 1, text: "a".to_owned(), end_ms: 4_100 };
        let told = events.of_worker((3, said), &session, seen);
        assert_eq!((&told[0]["delta"], &told[0]["elapsed_ms"]), (&json!(" a"), &json!(4_200)));
    }

    #[test]
    fn items_name_the_one_before_by_both_names() {
        for (is_former, kinds) in [
            (
                false,
                &["input_audio_buffer.committed", "conversation.item.added", "conversation.item.done"][..],
            ),
            (true, &["input_audio_buffer.committed", "conversation.item.created"]),
        ] {
            let mut events = Events::new(JobId(Uuid::nil()), is_former, EventPlace::default());
            let committed = |item| {
                let said = LiveEvent::Committed { item, start_ms: 0, end_ms: 1 };
                events.of_worker((1, said), &session(), EventPlace::default())
            };
            let [first, second] = [1, 2].map(committed);
            let found: Vec<_> = first.iter().map(|event| event["type"].as_str().unwrap()).collect();
            assert_eq!(found, kinds);
            assert_eq!(first[0]["previous_item_id"], Value::Null);
            assert_eq!(second[0]["previous_item_id"], first[0]["item_id"]);
        }
    }
}
