//! The routes of OpenAI's audio API (<https://platform.openai.com/docs/api-reference/audio>), for programs that already
//! use it. Each request is a speech recognition job like any other.
//!
//! A route's file has its handler, `form` has the fields of the requests and `options`, `language` and `chunking` the types
//! of their values, `response` writes what the caller chose, and `stream` writes it as events.

mod chunking;
pub(crate) mod form;
pub(crate) mod language;
pub(crate) mod model;
pub(crate) mod models;
pub(crate) mod options;
pub(crate) mod response;
mod stream;
pub(crate) mod transcriptions;
pub(crate) mod translations;

/// The path of transcriptions.
const PATH: &str = "/v1/audio/transcriptions";
