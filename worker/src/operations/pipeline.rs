//! The pipeline: every operation, loaded; a job goes to the one that its parameters name.

use akhar_inference::{Registry, Runtime};
use akhar_jobs::{JobId, Operation, Outcome, Parameters, Timing, Upload};
use akhar_platform::config::Config;
use tokio::sync::watch;

use super::{
    handwriting::{HandwritingError, HandwritingOperation},
    recognition::{RecognitionError, RecognitionOperation},
    speech::{SpeechError, SpeechOperation},
};
use crate::{decode::image::ImageDecoding, error::WorkerError};

/// Every operation, with its models loaded.
pub(crate) struct Pipeline {
    letters: RecognitionOperation,
    digits: RecognitionOperation,
    handwriting: HandwritingOperation,
    speech: SpeechOperation,
}

/// Why an attempt has no outcome.
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
    /// Loads and warms every operation's model. Blocks.
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

    /// Works one job; tells `progress` how many seconds of a recording are done. An input that cannot be
    /// worked on is an outcome, not an error.
    pub(crate) async fn work(
        &self,
        job: JobId,
        parameters: &Parameters,
        upload: Option<Upload>,
        progress: &watch::Sender<f64>,
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
