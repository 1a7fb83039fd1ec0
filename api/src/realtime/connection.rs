//! What a connection has, what comes of its client, and how it ends.

use std::time::Duration;

use akhar_jobs::{JobId, store::TakenOver};
use akhar_requests::live::LIVE_IDLE_S;
use axum::extract::ws::{CloseFrame, Message, close_code};
use serde_json::Value;
use tokio_tungstenite::tungstenite;

use super::{events::EventPlace, session::Session};
use crate::{
    app::App,
    auth::caller::Caller,
    http::{context::RequestContext, peer::Place},
    input::memory::Reserved,
    problems::{Problem, ProblemType},
    waiting::streams::OpenStream,
};

/// The most bytes of an event of a client, and of what is read of one that is larger.
pub(super) const MAX_EVENT_BYTES: usize = 512 * 1024;
pub(super) const MAX_READ_BYTES: usize = 2 * MAX_EVENT_BYTES;

/// The time after which a client that has sent nothing, not even the answer to a ping, is gone.
const SILENCE_LIMIT: Duration = Duration::from_secs(LIVE_IDLE_S as u64);
/// The time after which a socket without sound is closed, so that its memory is there for others.
const SOUND_LIMIT: Duration = Duration::from_secs(5 * 60);

/// What serves a connection, and what it holds while it is open.
pub(super) struct Connection {
    pub(super) app: App,
    pub(super) caller: Caller,
    pub(super) context: RequestContext,
    pub(super) stream: OpenStream,
    pub(super) _memory: Reserved,
    pub(super) _place: Option<Place>,
    pub(super) session_id: JobId,
    pub(super) session: Session,
    pub(super) is_former: bool,
    /// Of a session that was begun on another connection.
    pub(super) resumed: Option<TakenOver>,
    /// What its client has seen there.
    pub(super) seen: EventPlace,
}

/// Why a connection ends.
pub(super) enum End {
    /// The client has closed it.
    Closed,
    /// It broke, or the client is silent. The session can be taken up again.
    Lost,
    /// The session is over, as its client has asked.
    Over,
    /// The session goes on on another connection.
    TakenOver,
    /// The session cannot go on here.
    Problem(Problem),
}

impl End {
    /// In the log.
    pub(super) const fn name(&self) -> &'static str {
        match self {
            Self::Closed => "by the client",
            Self::Lost => "lost",
            Self::Over => "over",
            Self::TakenOver => "taken up elsewhere",
            Self::Problem(problem) => problem.problem_type().facts().slug,
        }
    }
}

impl<E: Into<Problem>> From<E> for End {
    fn from(error: E) -> Self {
        Self::Problem(error.into())
    }
}

/// A frame with an event.
pub(super) fn text(event: &Value) -> Message {
    Message::Text(event.to_string().into())
}

/// What came of the client.
pub(super) fn received(message: Option<Result<Message, axum::Error>>) -> Result<Message, End> {
    let error = match message {
        Some(Ok(Message::Close(frame))) => return Err(closed(frame)),
        Some(Ok(message)) => return Ok(message),
        Some(Err(error)) => error.into_inner().downcast::<tungstenite::Error>(),
        None => return Err(End::Lost),
    };
    let problem = |kind, detail: String| End::Problem(Problem::of(kind).with_detail(detail));
    Err(match error.as_deref() {
        Ok(tungstenite::Error::Capacity(_)) => {
            problem(ProblemType::TooLarge, format!("An event has at most {MAX_EVENT_BYTES} bytes."))
        }
        Ok(tungstenite::Error::Utf8(_)) => {
            problem(ProblemType::MalformedBody, "A text frame is not valid UTF-8.".to_owned())
        }
        _ => End::Lost,
    })
}

/// The client closes the socket. Programs whose connection broke, by their own count, say so with other codes.
fn closed(frame: Option<CloseFrame>) -> End {
    match frame.map(|frame| frame.code) {
        None | Some(close_code::NORMAL | close_code::AWAY) => End::Closed,
        Some(_) => End::Lost,
    }
}

/// Whether a connection goes on, so long after something came of its client, and after sound did.
pub(super) fn heard(any: Duration, sound: Duration) -> Result<(), End> {
    if any >= SILENCE_LIMIT {
        return Err(End::Lost);
    }
    if sound >= SOUND_LIMIT {
        let detail = "No sound came for 5 minutes. Connect again when there is some.";
        return Err(End::Problem(Problem::of(ProblemType::BodyTimeout).with_detail(detail)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_can_be_taken_up_again_unless_its_client_is_done() {
        let end = |code: Option<u16>| {
            let frame = code.map(|code| CloseFrame { code, reason: "".into() });
            received(Some(Ok(Message::Close(frame)))).unwrap_err().name()
        };
        for done in [None, Some(1000), Some(1001)] {
            assert_eq!(end(done), End::Closed.name(), "{done:?}");
        }
        for broken in [1002, 1006, 1011, 3000] {
            assert_eq!(end(Some(broken)), End::Lost.name(), "{broken}");
        }
    }

    #[test]
    fn a_client_without_sound_has_to_connect_again_and_a_silent_one_is_gone() {
        let end = |any, sound| heard(any, sound).err().map(|end| end.name());
        let before = |limit: Duration| limit.saturating_sub(Duration::from_millis(1));
        assert_eq!(end(before(SILENCE_LIMIT), before(SOUND_LIMIT)), None);
        assert_eq!(end(before(SILENCE_LIMIT), SOUND_LIMIT), Some("body-timeout"));
        assert_eq!(end(SILENCE_LIMIT, SOUND_LIMIT), Some(End::Lost.name()));
    }
}
