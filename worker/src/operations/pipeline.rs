//! The pipeline holds every operation with its models loaded, and passes each job to the operation that its
//! parameters name.

use std::time::Instant;

use akhar_inference::{Registry, Runtime};
use akhar_jobs::{JobId, Operation, Outcome, Parameters, Timing, Upload};
use akhar_platform::config::Config;
use tokio::sync::watch;

use super::{
    handwriting::{HandwritingError, HandwritingOperation},
    progress::Progress,
    recognition::{RecognitionError, RecognitionOperation},
    speech::{SpeechError, SpeechOperation},
};
use crate::{
    decode::image::{ImageDecoding, MAX_PIXELS},
    error::WorkerError,
    low_priority,
};

/// All operations with their models loaded.
pub(crate) struct Pipeline {
    letters: RecognitionOperation,
    digits: RecognitionOperation,
    handwriting: HandwritingOperation,
    speech: SpeechOperation,
}

/// The reason why an attempt has no outcome.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PipelineError {
    #[error(transparent)]
    Recognition(#[from] RecognitionError),
    #[error(transparent)]
    Handwriting(#[from] HandwritingError),
    #[error(transparent)]
    Speech(#[from] SpeechError),
}

impl Pipeline {
    /// Loads the models of every operation and warms them up. Blocks the thread.
    pub(crate) fn load(runtime: &Runtime, registry: &Registry, config: &Config) -> Result<Self, WorkerError> {
        let images = ImageDecoding::new(MAX_PIXELS);
        let recognition = |operation: Operation| {
            RecognitionOperation::load(operation, runtime, registry, images.clone(), config)
        };
        Ok(Self {
            letters: recognition(Operation::AlphabetRecognition)?,
            digits: recognition(Operation::DigitRecognition)?,
            handwriting: HandwritingOperation::load(runtime, registry, config)?,
            speech: low_priority::run("loads speech", || SpeechOperation::load(runtime, registry, config))
                .map_err(WorkerError::Thread)??,
        })
    }

    /// The id of the model that runs a job with these parameters. A translation runs another one besides.
    pub(crate) fn model(&self, parameters: &Parameters) -> &str {
        match parameters {
            Parameters::AlphabetRecognition { .. } => self.letters.model(),
            Parameters::DigitRecognition { .. } => self.digits.model(),
            Parameters::HandwritingGenerator(_) => self.handwriting.model(),
            Parameters::SpeechRecognition(parameters) => self.speech.model(parameters.lang),
        }
    }

    /// Whether the model that runs a job with these parameters has answered nothing since this time, although requests wait.
    pub(crate) fn is_stuck_since(&self, parameters: &Parameters, time: Instant) -> bool {
        match parameters {
            Parameters::AlphabetRecognition { .. } => self.letters.is_stuck_since(time),
            Parameters::DigitRecognition { .. } => self.digits.is_stuck_since(time),
            Parameters::HandwritingGenerator(_) => self.handwriting.is_stuck_since(time),
            Parameters::SpeechRecognition(parameters) => self.speech.is_stuck_since(parameters.lang, time),
        }
    }

    /// Runs one job. For a recording, `progress` receives how far its transcription is.
    /// An input that cannot be processed gives a rejected outcome, not an error.
    pub(crate) async fn work(
        &self,
        job: JobId,
        parameters: &Parameters,
        upload: Option<Upload>,
        progress: &watch::Sender<Progress>,
    ) -> Result<(Outcome, Timing), PipelineError> {
        Ok(match parameters {
            Parameters::AlphabetRecognition { top_k } => self.letters.recognise(upload, *top_k).await?,
            Parameters::DigitRecognition { top_k } => self.digits.recognise(upload, *top_k).await?,
            Parameters::HandwritingGenerator(parameters) => self.handwriting.write(job, parameters).await?,
            Parameters::SpeechRecognition(parameters) => {
                self.speech.transcribe(*parameters, upload, progress).await?
            }
        })
    }
}
