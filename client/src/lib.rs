//! The bodies that travel over the HTTP interface, as types that the service writes and a client reads; and, with the
//! feature `http`, that client.
//!
//! With the feature `schema` every body describes itself to an OpenAPI document.

mod bodies;
#[cfg(feature = "http")]
mod http;

pub use bodies::{
    handwriting::{HandwritingBody, Png, PointsBody, Strokes},
    job::{JobBody, JobResultBody, JobState},
    predictions::{PredictionBody, PredictionsBody},
    problem::{ProblemBody, ViolationBody},
    transcription::{SegmentBody, TranscriptionBody},
};
#[cfg(feature = "http")]
pub use http::{Answer, Client, ClientError, HandwritingRequest, SpeechRequest};
