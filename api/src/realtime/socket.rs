//! Serves one connection, and closes its socket when it ends.

use std::{future::pending, time::Duration};

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use tokio::time::timeout;

use super::{
    connection::{Connection, End, text},
    live::Live,
};
use crate::problems::ProblemType;

/// How long a client may take to answer that its socket is closed.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

/// Serves a connection until it ends.
pub(super) async fn serve(connection: Connection, mut socket: WebSocket) {
    let mut live = Live::new(connection);
    let Err(end) = live.run(&mut socket).await;
    tracing::info!(end = end.name(), session = %live.connection.session_id, "socket closed");
    match end {
        End::Closed => live.finish().await,
        End::Lost => tracing::debug!("the socket of a session broke"),
        End::Over => {
            if live.connection.session.is_translation() {
                let _ = socket.send(text(&live.events.closed())).await; // the client may be gone
            }
            close(socket, close_code::NORMAL, "the session is over").await;
        }
        End::TakenOver => {
            close(socket, close_code::POLICY, "the session was taken up on another connection").await;
        }
        End::Problem(problem) => {
            let kind = problem.problem_type();
            problem.count();
            if let Some(event) = live.events.problem(problem, &live.connection.context.request.id) {
                let _ = socket.send(text(&event)).await; // the client may be gone
            }
            let code = match kind {
                ProblemType::Draining => close_code::RESTART,
                ProblemType::Busy | ProblemType::QueueFull | ProblemType::Unavailable => close_code::AGAIN,
                ProblemType::Internal => close_code::ERROR,
                ProblemType::TooLarge => close_code::SIZE,
                _ => close_code::POLICY,
            };
            close(socket, code, kind.facts().slug).await;
        }
    }
}

async fn close(mut socket: WebSocket, code: u16, reason: &'static str) {
    let frame = Message::Close(Some(CloseFrame { code, reason: reason.into() }));
    if socket.send(frame).await.is_err() {
        return;
    }
    // The answer is read, so that the connection ends in order. Where nothing more can be read of it, what the client has sent would
    // reset the connection, before it has read why.
    let answer = async {
        loop {
            match socket.recv().await {
                None => return,
                Some(Ok(_)) => (),
                Some(Err(_)) => pending().await,
            }
        }
    };
    let _ = timeout(CLOSE_LIMIT, answer).await;
}
