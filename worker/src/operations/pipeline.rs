//! The pipeline holds every operation with its models loaded, and passes each job to the operation that its
//! parameters name.

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
use crate::{decode::image::ImageDecoding, error::WorkerError};

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
        let images = ImageDecoding::new(config.max_image_pixels);
        let recognition = |operation: Operation| {
            RecognitionOperation::load(operation, runtime, registry, images.clone(), config)
        };
        Ok(Self {
            letters: recognition(Operation::AlphabetRecognition)?,
            digits: recognition(Operation::DigitRecognition)?,
            handwriting: HandwritingOperation::load(runtime, registry, config)?,
            speech: SpeechOperation::load(runtime, registry, config)?,
        })
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
