//! Serves one connection, and closes its socket when it ends.

use std::{future::pending, time::Duration};

use axum::{
    extract::ws::{CloseFrame, Message, WebSocket, close_code},
    http::StatusCode,
};
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
        End::Lost if live.is_ending => live.finish().await,
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
            close(socket, close_code_of(kind), kind.facts().slug).await;
        }
    }
}

/// The code that says whether the client had better connect again.
fn close_code_of(kind: ProblemType) -> u16 {
    match (kind, kind.facts().status) {
        (ProblemType::Draining, _) => close_code::RESTART,
        (ProblemType::AccountBusy | ProblemType::BodyTimeout, _) => close_code::AGAIN,
        (ProblemType::MalformedBody, _) => close_code::INVALID,
        (_, StatusCode::INTERNAL_SERVER_ERROR) => close_code::ERROR,
        (_, StatusCode::PAYLOAD_TOO_LARGE) => close_code::SIZE,
        (_, status) if status.is_server_error() => close_code::AGAIN,
        _ => close_code::POLICY,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_connect_again_where_that_helps() {
        use ProblemType as P;
        for again in [
            P::AccountBusy,
            P::BodyTimeout,
            P::Busy,
            P::QueueFull,
            P::QueueClosed,
            P::StorageFull,
            P::Unavailable,
        ] {
            assert_eq!(close_code_of(again), close_code::AGAIN, "{again:?}");
        }
        for (kind, code) in [
            (P::Draining, close_code::RESTART),
            (P::Internal, close_code::ERROR),
            (P::TooLarge, close_code::SIZE),
            (P::MalformedBody, close_code::INVALID),
            (P::JobCancelled, close_code::POLICY),
            (P::QuotaExceeded, close_code::POLICY),
            (P::Unauthorized, close_code::POLICY),
        ] {
            assert_eq!(close_code_of(kind), code, "{kind:?}");
        }
    }
}
