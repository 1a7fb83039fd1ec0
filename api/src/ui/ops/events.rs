//! `GET /ops/events`: the numbers of the overview, once a second if they have changed, as Server-Sent Events.

use std::time::Duration;

use akhar_operators::sessions;
use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response, sse::Event},
};
use futures::stream;
use serde_json::json;
use tokio::time::{Instant, interval_at};

use super::{
    failure::Failure,
    live::Overview,
    operator::Operator,
    overview::{alert_text, layout_of, values},
    state::OpsState,
};
use crate::http::event_stream;

/// The time between two looks.
const INTERVAL: Duration = Duration::from_secs(1);

/// How many looks pass until the session is looked up again, if no key changes.
const LOOKS_PER_CHECK: u32 = 10;

/// Answers 204 without a session, after which the browser does not ask again.
pub(super) async fn handle(
    State(state): State<OpsState>,
    operator: Result<Operator, Failure>,
) -> Result<Response, Failure> {
    let operator = match operator {
        Err(Failure::SignedOut) => return Ok(StatusCode::NO_CONTENT.into_response()),
        operator => operator?,
    };
    let Ok(place) = state.open_pages.take((), 1) else { return Ok(StatusCode::NO_CONTENT.into_response()) };
    let ticks = interval_at(Instant::now(), INTERVAL);
    let keys = state.auth.keys.changes();
    let follower = (state, operator, place, (ticks, keys), String::new(), 0_u32);
    let events = stream::unfold(
        follower,
        async |(state, operator, place, (mut ticks, mut keys), mut sent, mut n_looks)| {
            loop {
                tokio::select! {
                    _ = ticks.tick() => n_looks += 1,
                    _changed = keys.changed() => n_looks = 0,
                    () = state.draining.cancelled() => return None,
                }
                if n_looks % LOOKS_PER_CHECK == 0
                    && matches!(sessions::find(&state.database, &operator.id).await, Ok(None))
                {
                    return None;
                }
                // If the database is away, the page keeps its numbers and this looks again.
                let Ok(overview) = state.live.overview(&state.database).await else { continue };
                let data = document(&overview);
                if data != sent {
                    sent.clone_from(&data);
                    let event = Event::default().event("overview").data(data);
                    return Some((Ok(event), (state, operator, place, (ticks, keys), sent, n_looks)));
                }
            }
        },
    );
    Ok(event_stream::respond(events))
}

fn document(overview: &Overview) -> String {
    let values: serde_json::Map<_, _> =
        values(overview).into_iter().map(|(id, value)| (id, json!(value))).collect();
    let alerts: Vec<String> = overview.alerts().iter().map(alert_text).collect();
    json!({"layout": layout_of(overview), "alerts": alerts, "values": values}).to_string()
}
