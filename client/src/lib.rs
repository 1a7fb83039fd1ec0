//! The JSON bodies of the HTTP interface, as types that the api serialises and a client parses.
//!
//! The feature `http` adds an HTTP client. The feature `schema` adds the OpenAPI schemas of the bodies.
//!
//! A recording as subtitles:
//!
//! ```no_run
//! # #[cfg(feature = "http")]
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use std::time::Duration;
//!
//! use akhar_client::{Client, JobResultBody, Retries, SpeechRequest, subtitles::{self, Layout}};
//!
//! let client = Client::new(reqwest::Client::new(), "http://127.0.0.1:8080", std::env::var("KEY")?)
//!     .retrying(Retries::within(Duration::from_secs(60)));
//! let request = SpeechRequest {
//!     with_timestamps: true,
//!     // With a key, a repeated request gets the job of the first one.
//!     idempotency_key: Some("8e03978e-40d5-43dd-bc93-6894a57f9324".to_owned()),
//!     ..SpeechRequest::default()
//! };
//! let job = client.submit_speech_recognition(std::fs::read("talk.mp3")?, &request).await?;
//! match client.ended_job(job.id).await?.result {
//!     Some(JobResultBody::Transcription(body)) => {
//!         println!("{}", subtitles::srt(&body.timestamps.unwrap_or_default(), Layout::default()));
//!     }
//!     _ => eprintln!("the job has failed"),
//! }
//! # Ok(())
//! # }
//! ```

mod bodies;
#[cfg(feature = "http")]
mod error;
#[cfg(feature = "http")]
mod http;
mod paragraphs;
#[cfg(feature = "http")]
mod recording;
#[cfg(feature = "http")]
mod retries;
pub mod subtitles;
#[cfg(feature = "http")]
mod texts;

pub use bodies::{
    event::{GroupEventBody, GroupEventName, JobEventBody, JobEventName, ProgressEventBody, StateEventBody},
    group::{GroupBody, GroupsBody},
    handwriting::{HandwritingBody, Png, PointsBody, Strokes},
    job::{JobBody, JobResultBody, JobState, JobsBody},
    openai::{
        AudioEventBody, AudioLanguageBody, AudioLogprobBody, AudioResultBody, AudioSegmentBody,
        AudioTextBody, AudioUsageBody, AudioWordBody, DiarizedAudioSegmentBody, DiarizedAudioTextBody,
        ModelBody, ModelsBody, OpenAiErrorBody, VerboseAudioTextBody,
    },
    predictions::{PredictionBody, PredictionsBody},
    problem::{ProblemBody, ViolationBody},
    token::TokenBody,
    transcription::{SegmentBody, TranscriptionBody, WordBody},
    translation::TranslationBody,
    upload::UploadBody,
    warnings::{ProbablyWrongBody, TextKind, WARNINGS_HEADER, Warnings},
    webhook::{GroupWebhookBody, GroupWebhookEvent, WebhookBody, WebhookEvent},
};
#[cfg(feature = "http")]
pub use error::ClientError;
#[cfg(feature = "http")]
pub use http::{Answer, Client, Transcribed};
pub use paragraphs::paragraphs;
#[cfg(feature = "http")]
pub use recording::{RecordingSource, SpeechRequest};
#[cfg(feature = "http")]
pub use retries::Retries;
#[cfg(feature = "http")]
pub use texts::{HandwritingRequest, TranslationRequest};

/// Compiles the example in the book.
#[cfg(all(doctest, feature = "http"))]
#[doc = include_str!("../../docs/src/use/clients.md")]
struct Book;

/// The most bytes that a recording may have: 2 MiB.
pub const MAX_RECORDING_BYTES: usize = 2 * 1024 * 1024;
