//! The pipeline holds every operation with its models, and passes each job to the operation that its parameters
//! name.

use std::time::Instant;

use akhar_inference::Registry;
use akhar_jobs::{JobId, Timing};
use akhar_requests::{Language, Operation, Outcome, Parameters};
use tokio::sync::watch;

use super::{
    error::OperationError,
    handwriting::HandwritingOperation,
    lazy_model::LazyModels,
    live::{self, LiveJob},
    progress::Progress,
    recognition::RecognitionOperation,
    speech::{SpeechJob, SpeechOperation},
    text_translation,
    translation::Translators,
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
    stream::Stream,
};

/// All operations with their models.
pub(crate) struct Pipeline {
    letters: RecognitionOperation,
    digits: RecognitionOperation,
    handwriting: HandwritingOperation,
    speech: SpeechOperation,
    translators: Translators,
}

impl Pipeline {
    /// Finds the models of every operation, and loads those of letters and digits. Blocks the thread.
    pub(crate) fn open(
        models: &LazyModels,
        registry: &Registry,
        turns: DecodingTurns,
    ) -> Result<Self, WorkerError> {
        let images = ImageDecoding::new(MAX_PIXELS);
        let recognition = |operation| RecognitionOperation::load(operation, models, registry, images.clone());
        Ok(Self {
            letters: recognition(Operation::AlphabetRecognition)?,
            digits: recognition(Operation::DigitRecognition)?,
            handwriting: HandwritingOperation::open(models, registry)?,
            speech: SpeechOperation::open(models, registry, turns)?,
            translators: Translators::open(models, registry)?,
        })
    }

    /// The id of the model that runs a job with these parameters. The translation of a recording runs another one besides, and so does the
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
            Parameters::AlphabetRecognition { .. } => Some(&*self.letters.engine),
            Parameters::DigitRecognition { .. } => Some(&*self.digits.engine),
            Parameters::HandwritingGenerator(_) => Some(&*self.handwriting.writer),
            Parameters::LiveTranscription(parameters) => self.speech.engine(parameters.session.speech.lang),
            Parameters::SpeechRecognition(parameters) => self.speech.engine(parameters.lang),
            Parameters::Translation(parameters) => self.translators.engine(parameters.lang),
        }
    }

    /// Runs one job of an account, which takes turns with others at the models. `stream`: its input that arrives while it runs, if it has any. For a recording, `progress` receives how far its transcription is.
    /// An input that cannot be processed gives a rejected outcome, not an error.
    pub(crate) async fn work(
        &self,
        (requester, job): (Requester, JobId),
        parameters: &Parameters,
        (file, stream): (Option<JobFile>, &Stream),
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
            Parameters::LiveTranscription(parameters) => {
                let job = LiveJob { requester, parameters, stream, progress };
                live::transcribe(&self.speech, job).await?
            }
            Parameters::SpeechRecognition(parameters) => {
                let job = SpeechJob { requester, parameters, progress };
                self.speech.transcribe(job, file).await?
            }
            Parameters::Translation(parameters) => {
                text_translation::translate(&self.translators, requester, parameters, progress).await?
            }
        })
    }
}
