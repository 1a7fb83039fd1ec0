//! Why a job has no outcome.

use std::io;

use akhar_inference::handwriting::PictureError;
use akhar_jobs::backend::BatchError;

use crate::{engine::EngineError, error::WorkerError};

/// The reason why an attempt has no outcome.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OperationError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A model that a job first needs cannot be loaded.
    #[error(transparent)]
    Model(#[from] WorkerError),
    #[error(transparent)]
    Picture(#[from] PictureError),
    #[error("the job has no upload")]
    NoUpload,
    #[error("cannot read the recording from its temporary file: {0}")]
    Read(String),
    #[error("no speech model is loaded for the language {0}")]
    NoModel(&'static str),
    #[error("cannot start a thread: {0}")]
    Thread(#[source] io::Error),
    #[error("the thread that decodes the recording panicked")]
    Decoder,
    #[error("the thread that decodes the recording does not go on")]
    DecoderStuck,
    #[error("the sound cannot be prepared: {0}")]
    Sound(String),
    /// The stream of the job cannot be read or written, and trying again would not help.
    #[error(transparent)]
    Stream(#[from] BatchError),
    #[error("the job was cancelled, claimed again or queued again")]
    ClaimLost,
    #[error("the thread that searches for the transcript panicked")]
    Search,
}
