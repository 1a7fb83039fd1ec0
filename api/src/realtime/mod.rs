//! Live transcription and translation with the events of OpenAI's Realtime API (<https://platform.openai.com/docs/api-reference/realtime>). A session
//! is a job, whose sound and text are streams in the database.
//!
//! `route` has the handler of the socket, and `secrets` those that make secrets for it. `socket` serves one connection, as `live`
//! knows it: what its client sends is read by `client_events`, `session` is what it asks for, a `transcription` with its `fields` or a
//! `translation`, `sound` is on its way to the database, and `events` writes what comes back.

mod client_events;
mod connection;
mod events;
mod fields;
mod live;
pub(crate) mod route;
pub(crate) mod secrets;
mod session;
mod socket;
mod sound;
mod transcription;
mod translation;

/// The path of sockets.
pub(crate) const PATH: &str = "/v1/realtime";
