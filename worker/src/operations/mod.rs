//! Where jobs and models meet: a claimed job comes in; its outcome and where the time went come out.

pub(crate) mod by_language;
mod handwriting;
mod speech;
pub(crate) mod translation;

use std::time::{Duration, Instant};

use akhar_inference::{Classifier, Runtime, RuntimeError, Score, Shelf, ink};
use akhar_jobs::{JobId, Operation, Outcome, Parameters, Prediction, Timing, TopK, Upload};
use akhar_platform::config::Config;
use tokio::sync::watch;

use crate::{
    WorkerError,
    decode::image::ImageDecoding,
    engine::{BatchModel, Engine, EngineError},
    operations::handwriting::{Handwriting, HandwritingError},
    operations::speech::{Speech, SpeechError},
};

/// Every operation's engine.
pub(crate) struct Pipeline {
    letters: Engine<Classifier>,
    digits: Engine<Classifier>,
    images: ImageDecoding,
    handwriting: Handwriting,
    speech: Speech,
}

/// Why an attempt has no outcome.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PipelineError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Handwriting(#[from] HandwritingError),
    #[error(transparent)]
    Speech(#[from] SpeechError),
    #[error("the job has no upload")]
    NoUpload,
}

impl BatchModel for Classifier {
    type Input = Vec<f32>;
    type Output = Vec<Score>;
    fn run(&mut self, batch: &[Vec<f32>]) -> Result<Vec<Vec<Score>>, String> {
        self.classify(batch).map_err(|e: RuntimeError| e.to_string())
    }
}

impl Pipeline {
    /// Loads and warms every operation's model. Blocks.
    pub(crate) fn load(runtime: &Runtime, shelf: &Shelf, config: &Config) -> Result<Self, WorkerError> {
        let engine = |operation: Operation| -> Result<Engine<Classifier>, WorkerError> {
            let manifest = shelf.serving(operation.name(), None)?;
            let classifier = Classifier::load(runtime, manifest, config.inference_threads.get())?;
            tracing::info!(model = %manifest.id, operation = operation.name(), "model loaded");
            Engine::start(&manifest.id, classifier, config.max_batch.get()).map_err(WorkerError::Thread)
        };
        Ok(Self {
            letters: engine(Operation::AlphabetRecognition)?,
            digits: engine(Operation::DigitRecognition)?,
            images: ImageDecoding::new(config.max_image_pixels),
            handwriting: Handwriting::load(
                runtime,
                shelf.serving(Operation::HandwritingGenerator.name(), None)?,
                config,
            )?,
            speech: Speech::load(runtime, shelf, config)?,
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
        match parameters {
            Parameters::AlphabetRecognition { top_k } => self.recognise(&self.letters, upload, *top_k).await,
            Parameters::DigitRecognition { top_k } => self.recognise(&self.digits, upload, *top_k).await,
            Parameters::HandwritingGenerator(order) => Ok(self.handwriting.write(job, order).await?),
            Parameters::SpeechRecognition(order) => {
                Ok(self.speech.transcribe(*order, upload, progress).await?)
            }
        }
    }

    async fn recognise(
        &self,
        engine: &Engine<Classifier>,
        upload: Option<Upload>,
        top_k: TopK,
    ) -> Result<(Outcome, Timing), PipelineError> {
        let upload = upload.ok_or(PipelineError::NoUpload)?;
        let started = Instant::now();
        let features = self.images.decode(upload, |image| ink_features(&image)).await;
        let decode_us = micros(started.elapsed());
        let features = match features {
            Ok(Some(features)) => features,
            Ok(None) => {
                let detail = "expected a character in ink, found a blank image";
                return Ok((Outcome::rejected("file", "no_ink", detail), Timing { decode_us, infer_us: 0 }));
            }
            Err(undecodable) => return Ok((undecodable.into(), Timing { decode_us, infer_us: 0 })),
        };
        let answer = engine.infer(features).await?;
        let best = answer.output.into_iter().take(top_k.get());
        let predictions = best.map(|s| Prediction { label: s.label, score: s.score }).collect();
        let timing = Timing { decode_us, infer_us: micros(answer.took) };
        Ok((Outcome::Predictions { predictions }, timing))
    }
}

/// The ink of an image, or none where there is none.
fn ink_features(image: &image::RgbImage) -> Option<Vec<f32>> {
    let view = ink::RgbView::new(image.width() as usize, image.height() as usize, image.as_raw())?;
    ink::features(view).ok()
}

pub(crate) fn micros(duration: Duration) -> i32 {
    i32::try_from(duration.as_micros()).unwrap_or(i32::MAX)
}
