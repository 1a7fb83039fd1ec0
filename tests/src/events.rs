//! Reads a stream of Server-Sent Events (<https://html.spec.whatwg.org/multipage/server-sent-events.html>).

use serde_json::Value;
use tokio::time::timeout;

use crate::TIMEOUT;

/// An open stream.
#[derive(Debug)]
pub struct Events {
    response: reqwest::Response,
    /// What was received and is not read yet.
    buffer: Vec<u8>,
}

/// An event.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// Its id.
    pub id: String,
    /// Its data.
    pub data: Value,
}

impl Events {
    /// Opens a stream. `last` is the id of the last event that was received.
    pub async fn open(request: reqwest::RequestBuilder, last: Option<&str>) -> Self {
        let request = request.header("accept", "text/event-stream; charset=utf-8");
        let request = last.iter().fold(request, |request, last| request.header("last-event-id", *last));
        let response = request.send().await.expect("an answer");
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
        Self { response, buffer: Vec::new() }
    }

    /// The next event. `None` at the end of the stream.
    pub async fn next(&mut self) -> Option<Event> {
        let event = timeout(TIMEOUT, self.read());
        event.await.expect("an event, or the end of the stream")
    }

    async fn read(&mut self) -> Option<Event> {
        loop {
            if let Some(at) = self.buffer.windows(2).position(|bytes| bytes == b"\n\n") {
                let block: Vec<u8> = self.buffer.drain(..at + 2).collect();
                if let Some(event) = Event::parse(std::str::from_utf8(&block).expect("UTF-8")) {
                    return Some(event);
                }
                continue;
            }
            let Some(chunk) = self.response.chunk().await.expect("the stream does not break") else {
                assert!(self.buffer.is_empty(), "half an event: {}", String::from_utf8_lossy(&self.buffer));
                return None;
            };
            self.buffer.extend(chunk);
        }
    }

    /// All further events, until the stream ends.
    pub async fn rest(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

impl Event {
    /// `None` if the block is only a comment.
    fn parse(block: &str) -> Option<Self> {
        let field = |name: &str| {
            let mut lines = block.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            lines.next().map(|value| value.strip_prefix(' ').unwrap_or(value).to_owned())
        };
        let data = field("data")?;
        let data = serde_json::from_str(&data).unwrap_or_else(|error| panic!("{data}: {error}"));
        Some(Self { name: field("event").expect("a name"), id: field("id").expect("an id"), data })
    }
}
