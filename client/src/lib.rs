//! The JSON bodies of the HTTP interface, as types that the api serialises and a client parses.
//!
//! The feature `http` adds an HTTP client. The feature `schema` adds the OpenAPI schemas of the bodies.

mod bodies;
#[cfg(feature = "http")]
mod http;
pub mod subtitles;

pub use bodies::{
    event::{ProgressEventBody, StateEventBody},
    handwriting::{HandwritingBody, Png, PointsBody, Strokes},
    job::{JobBody, JobResultBody, JobState, JobsBody},
    openai::{
        AudioSegmentBody, AudioTextBody, AudioUsageBody, AudioWordBody, ModelBody, ModelsBody,
        OpenAiErrorBody, VerboseAudioTextBody,
    },
    predictions::{PredictionBody, PredictionsBody},
    problem::{ProblemBody, ViolationBody},
    transcription::{SegmentBody, TranscriptionBody},
};
#[cfg(feature = "http")]
pub use http::{Answer, Client, ClientError, HandwritingRequest, SpeechRequest};
