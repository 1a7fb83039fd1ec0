//! Recognition jobs: a picture of one character comes in; the likeliest labels come out.

use std::time::Instant;

use akhar_inference::{Classifier, Registry, Runtime, RuntimeError, Score, ink};
use akhar_jobs::{Operation, Outcome, Prediction, Timing, TopK, Upload};
use akhar_platform::config::Config;

use super::timing::micros;
use crate::{
    decode::image::{Decoded, ImageDecoding, Pixels},
    engine::{BatchModel, Engine, EngineError},
    error::WorkerError,
};

/// One classifier's engine, and what decodes its pictures.
pub(crate) struct RecognitionOperation {
    engine: Engine<Classifier>,
    images: ImageDecoding,
}

/// Why recognition has no outcome.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecognitionError {
    #[error(transparent)]
    Engine(#[from] EngineError),
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

impl RecognitionOperation {
    /// Loads and warms the model that serves `operation`. Blocks.
    pub(crate) fn load(
        operation: Operation,
        runtime: &Runtime,
        registry: &Registry,
        images: ImageDecoding,
        config: &Config,
    ) -> Result<Self, WorkerError> {
        let manifest = registry.serving(operation.name(), None)?;
        let classifier = Classifier::load(runtime, manifest, config.inference_threads.get())?;
        tracing::info!(model = %manifest.id, operation = operation.name(), "model loaded");
        let engine = Engine::start(&manifest.id, classifier, config.max_batch.get());
        Ok(Self { engine: engine.map_err(WorkerError::Thread)?, images })
    }

    /// The `top_k` likeliest labels of the picture's character.
    pub(crate) async fn recognise(
        &self,
        upload: Option<Upload>,
        top_k: TopK,
    ) -> Result<(Outcome, Timing), RecognitionError> {
        let upload = upload.ok_or(RecognitionError::NoUpload)?;
        let started = Instant::now();
        let features = self.images.decode(upload, |pixels| features(&pixels)).await;
        let decode_us = micros(started.elapsed());
        let features = match features {
            Ok(Some(features)) => features,
            Ok(None) => {
                let detail = "expected a character in ink, found a blank image";
                return Ok((Outcome::rejected("file", "no_ink", detail), Timing { decode_us, infer_us: 0 }));
            }
            Err(undecodable) => return Ok((undecodable.into(), Timing { decode_us, infer_us: 0 })),
        };
        let answer = self.engine.infer(features).await?;
        let best = answer.output.into_iter().take(top_k.get());
        let predictions =
            best.map(|s| Prediction { label: s.label.as_ref().to_owned(), score: s.score }).collect();
        let timing = Timing { decode_us, infer_us: micros(answer.took) };
        Ok((Outcome::Predictions { predictions }, timing))
    }
}

/// A classifier's input for a decoded picture, as [`ink::features`] makes it; none where there is no ink.
fn features(pixels: &Pixels) -> Option<Vec<f32>> {
    ink::features(pixels.view()?).ok()
}

/// A classifier's input for a picture of at most 256 x 256 pixels, made as a job makes it: none where the
/// picture is larger, cannot be decoded or has no ink. For benchmarks.
pub fn classifier_input(upload: &Upload) -> Option<Vec<f32>> {
    match ImageDecoding::new(u64::MAX).decode_small(upload) {
        Ok(Decoded::Pixels(pixels)) => features(&pixels),
        Ok(Decoded::Large(_)) | Err(_) => None,
    }
}
