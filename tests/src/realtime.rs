//! A client of `/v1/realtime`.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{self, Message, client::IntoClientRequest as _, http::HeaderName},
};

use crate::{Stack, TIMEOUT};

/// The parameters of every session.
pub const INTENT: &str = "intent=transcription";

/// The types of events with text.
pub const DELTA: &str = "conversation.item.input_audio_transcription.delta";
/// That of the last event of an utterance.
pub const COMPLETED: &str = "conversation.item.input_audio_transcription.completed";

/// An open socket.
#[derive(Debug)]
pub struct Socket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// All events so far.
    pub events: Vec<Value>,
}

impl Socket {
    /// Opens a socket with this stack's key, and returns it behind its first event.
    pub async fn open(stack: &Stack, query: &str) -> Self {
        Self::open_at(&stack.base, &stack.key, query).await
    }

    /// The same of another api or with another key.
    pub async fn open_at(base: &str, key: &str, query: &str) -> Self {
        let bearer = ("authorization", format!("Bearer {key}"));
        Self::open_with(base, query, &[bearer]).await
    }

    /// The same with these headers.
    pub async fn open_with(base: &str, query: &str, headers: &[(&'static str, String)]) -> Self {
        Self::open_as("", base, query, headers).await
    }

    /// The same at a path below.
    pub async fn open_as(path: &str, base: &str, query: &str, headers: &[(&'static str, String)]) -> Self {
        let opened = Self::handshake(&format!("{base}/v1/realtime{path}?{query}"), headers).await;
        let mut socket = opened.expect("the socket opens");
        assert!(socket.next().await.expect("an event")["session"]["id"].is_string());
        socket
    }

    /// What comes of an opening handshake at a URL.
    pub async fn handshake(
        url: &str,
        headers: &[(&'static str, String)],
    ) -> Result<Self, tungstenite::Error> {
        let url = url.replacen("http", "ws", 1);
        let mut request = url.into_client_request().expect("a URL");
        for (name, value) in headers {
            request.headers_mut().append(HeaderName::from_static(name), value.parse().expect("a value"));
        }
        let (stream, _) = timeout(TIMEOUT, connect_async(request)).await.expect("an answer")?;
        Ok(Self { stream, events: Vec::new() })
    }

    /// The id of the session.
    pub fn session_id(&self) -> String {
        self.events[0]["session"]["id"].as_str().expect("an id").to_owned()
    }

    /// The id of its job.
    pub fn job(&self) -> uuid::Uuid {
        self.session_id().strip_prefix("sess_").expect("an id").parse().expect("a UUID")
    }

    /// Takes the session up again behind the events that came of this one.
    pub async fn resume(&self, base: &str, key: &str) -> Self {
        let mut ids = self.events.iter().rev().filter_map(|event| event["event_id"].as_str());
        let last = ids.find(|id| !id.starts_with("event_c")).expect("an event about the sound");
        let query = format!("{INTENT}&session={}&starting_after={last}", self.session_id());
        Self::open_at(base, key, &query).await
    }

    /// Sends an event.
    pub async fn send(&mut self, event: Value) {
        self.send_message(Message::Text(event.to_string().into())).await;
    }

    /// Sends a frame.
    pub async fn send_message(&mut self, message: Message) {
        timeout(TIMEOUT, self.stream.send(message)).await.expect("it is taken").expect("it is sent");
    }

    /// Changes the session, and returns it as it is then.
    pub async fn update(&mut self, session: Value) -> Value {
        self.send(json!({"type": "session.update", "session": session})).await;
        self.until("session.updated").await["session"].clone()
    }

    /// Sends sound, as bytes of the session's format.
    pub async fn append(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(32 * 1024) {
            let audio = BASE64_STANDARD.encode(piece);
            self.send(json!({"type": "input_audio_buffer.append", "audio": audio})).await;
        }
    }

    /// The next event. `None` at the end.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            match timeout(TIMEOUT, self.stream.next()).await.expect("an event or the end")?.ok()? {
                Message::Text(text) => {
                    let event: Value = serde_json::from_str(&text).expect("JSON");
                    self.events.push(event.clone());
                    return Some(event);
                }
                Message::Close(frame) => {
                    let frame = frame.expect("a reason");
                    self.events.push(
                        json!({"type": "closed", "code": u16::from(frame.code), "reason": &*frame.reason}),
                    );
                    return None;
                }
                Message::Pong(_) => self.events.push(json!({"type": "pong"})),
                _ => (),
            }
        }
    }

    /// The next event of this type.
    pub async fn until(&mut self, kind: &str) -> Value {
        loop {
            let Some(event) = self.next().await else {
                panic!("no {kind} before the end: {:?}", self.events)
            };
            if event["type"] == kind {
                return event;
            }
        }
    }

    /// Ends the session and reads to the end. Returns the code with which the socket was closed.
    pub async fn finish(&mut self) -> u64 {
        self.send(json!({"type": "input_audio_buffer.commit", "final": true})).await;
        self.closed().await
    }

    /// Reads to the end. Returns the code with which the socket was closed.
    pub async fn closed(&mut self) -> u64 {
        while self.next().await.is_some() {}
        self.events
            .last()
            .and_then(|last| last["code"].as_u64())
            .unwrap_or_else(|| panic!("{:?}", self.events))
    }

    /// The texts of the utterances so far. Checks that each is the sum of its deltas.
    pub fn texts(&self) -> Vec<String> {
        texts(&self.events)
    }
}

/// The texts of the utterances that these events complete. Checks that each is the sum of its deltas.
pub fn texts(events: &[Value]) -> Vec<String> {
    let mut texts = Vec::new();
    let mut sum = String::new();
    for event in events {
        if event["type"] == DELTA {
            sum += event["delta"].as_str().expect("a text");
        } else if event["type"] == COMPLETED {
            let text = event["transcript"].as_str().expect("a text").to_owned();
            assert_eq!(std::mem::take(&mut sum), text, "{events:?}");
            texts.push(text);
        }
    }
    texts
}

/// Samples of 16 kHz as bytes of `audio/pcm`.
pub fn pcm(samples: &[i16]) -> Vec<u8> {
    samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()
}
