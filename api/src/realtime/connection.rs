//! What a connection has, what comes of its client, and how it ends.

use akhar_jobs::{JobId, store::TakenOver};
use axum::extract::ws::Message;
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
        Some(Ok(message)) => return Ok(message),
        Some(Err(error)) => error.into_inner().downcast::<tungstenite::Error>(),
        None => return Err(End::Lost),
    };
    Err(match error.as_deref() {
        Ok(tungstenite::Error::Capacity(_)) => {
            let detail = format!("An event has at most {MAX_EVENT_BYTES} bytes.");
            End::Problem(Problem::of(ProblemType::TooLarge).with_detail(detail))
        }
        _ => End::Lost,
    })
}
