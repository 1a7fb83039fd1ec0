//! The pipeline holds every operation with its models loaded, and passes each job to the operation that its
//! parameters name.

use std::time::Instant;

use akhar_inference::{Registry, Runtime};
use akhar_jobs::{JobId, Language, Operation, Outcome, Parameters, Timing};
use akhar_platform::config::Config;
use tokio::sync::watch;

use super::{
    error::OperationError,
    handwriting::HandwritingOperation,
    progress::Progress,
    recognition::RecognitionOperation,
    speech::{SpeechJob, SpeechOperation},
};
use crate::{
    decode::{
        image::{ImageDecoding, MAX_PIXELS},
        job_file::JobFile,
    },
    decoding::DecodingTurns,
    engine::RunningModel,
    error::WorkerError,
    fair_queue::Requester,
    low_priority,
};

/// All operations with their models loaded.
pub(crate) struct Pipeline {
    letters: RecognitionOperation,
    digits: RecognitionOperation,
    handwriting: HandwritingOperation,
    speech: SpeechOperation,
}

impl Pipeline {
    /// Loads the models of every operation and warms them up. Blocks the thread.
    pub(crate) fn load(
        runtime: &Runtime,
        registry: &Registry,
        config: &Config,
        turns: DecodingTurns,
    ) -> Result<Self, WorkerError> {
        let images = ImageDecoding::new(MAX_PIXELS);
        let recognition = |operation: Operation| {
            RecognitionOperation::load(operation, runtime, registry, images.clone(), config)
        };
        Ok(Self {
            letters: recognition(Operation::AlphabetRecognition)?,
            digits: recognition(Operation::DigitRecognition)?,
            handwriting: HandwritingOperation::load(runtime, registry, config)?,
            speech: low_priority::run("loads speech", || {
                SpeechOperation::load(runtime, registry, config, turns)
            })
            .map_err(WorkerError::Thread)??,
        })
    }

    /// The id of the model that runs a job with these parameters. A translation runs another one besides, and so does the
    /// detection of the language, whose result is not known yet.
    pub(crate) fn model(&self, parameters: &Parameters) -> &str {
        self.engine(parameters).map_or("none", RunningModel::name)
    }

    /// Whether a model that runs a job with these parameters has answered nothing since this time, although requests wait.
    pub(crate) fn is_stuck_since(&self, parameters: &Parameters, time: Instant) -> bool {
        let engines = match parameters {
            Parameters::SpeechRecognition(speech) if speech.detect_language => {
                Language::ALL.map(|language| self.speech.engine(language)).to_vec()
            }
            _ => vec![self.engine(parameters)],
        };
        engines.into_iter().flatten().any(|engine| engine.is_stuck_since(time))
    }

    fn engine(&self, parameters: &Parameters) -> Option<&dyn RunningModel> {
        match parameters {
            Parameters::AlphabetRecognition { .. } => Some(&self.letters.engine),
            Parameters::DigitRecognition { .. } => Some(&self.digits.engine),
            Parameters::HandwritingGenerator(_) => Some(&self.handwriting.writer),
            Parameters::SpeechRecognition(parameters) => self.speech.engine(parameters.lang),
        }
    }

    /// Runs one job of an account, which takes turns with others at the models. For a recording, `progress` receives how far its transcription is.
    /// An input that cannot be processed gives a rejected outcome, not an error.
    pub(crate) async fn work(
        &self,
        (requester, job): (Requester, JobId),
        parameters: &Parameters,
        file: Option<JobFile>,
        progress: &watch::Sender<Progress>,
    ) -> Result<(Outcome, Timing), OperationError> {
        Ok(match parameters {
            Parameters::AlphabetRecognition { top_k } => {
                self.letters.recognise(requester, file, *top_k).await?
            }
            Parameters::DigitRecognition { top_k } => self.digits.recognise(requester, file, *top_k).await?,
            Parameters::HandwritingGenerator(parameters) => {
                self.handwriting.write(requester, job, parameters).await?
            }
            Parameters::SpeechRecognition(parameters) => {
                let job = SpeechJob { requester, parameters, progress };
                self.speech.transcribe(job, file).await?
            }
        })
    }
}
