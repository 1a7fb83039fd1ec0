//! Letter and digit recognition jobs: from a picture of one character to its likeliest labels.

use std::{sync::Arc, time::Instant};

use akhar_inference::{Classifier, Manifest, Registry, Runtime, RuntimeError, Score, ink};
use akhar_jobs::{Operation, Outcome, Prediction, Timing, TopK, Upload};
use akhar_platform::{config::Config, telemetry::traces};
use tracing::Instrument as _;

use super::{
    engines,
    error::OperationError,
    lazy_model::{LazyModel, LazyModels},
    timing::micros,
};
use crate::{
    decode::{
        image::{DecodedImage, ImageDecoding, Pixels},
        job_file::JobFile,
    },
    engine::{BatchLimits, BatchModel, Engine},
    error::WorkerError,
    fair_queue::{Requester, Turn},
};

/// Pictures in one run of a classifier at most. They cost the same.
const BATCHES: BatchLimits = BatchLimits { max_inputs: 16, max_cost: u64::MAX };

/// One classifier's engine, and the decoder of its pictures.
pub(crate) struct RecognitionOperation {
    pub(super) engine: Arc<LazyModel<Engine<Classifier>>>,
    images: ImageDecoding,
}

impl BatchModel for Classifier {
    type Input = Vec<f32>;
    type Output = Vec<Score>;
    fn run(&mut self, batch: &[Vec<f32>]) -> Result<Vec<Vec<Score>>, String> {
        self.classify(batch).map_err(|e: RuntimeError| e.to_string())
    }
}

impl RecognitionOperation {
    /// Loads the model that serves `operation` and warms it up. Blocks the thread.
    pub(crate) fn load(
        operation: Operation,
        models: &LazyModels,
        registry: &Registry,
        images: ImageDecoding,
    ) -> Result<Self, WorkerError> {
        let engine = models.of(registry, registry.serving(operation.name(), None)?, engine)?;
        // It is small, and its callers wait the shortest time.
        engine.loaded()?;
        Ok(Self { engine, images })
    }

    /// Returns the `top_k` likeliest labels of the character in the picture. A picture that cannot be decoded
    /// or has no ink gives a rejected outcome.
    pub(crate) async fn recognise(
        &self,
        requester: Requester,
        file: Option<JobFile>,
        top_k: TopK,
    ) -> Result<(Outcome, Timing), OperationError> {
        let upload = file.and_then(JobFile::into_upload).ok_or(OperationError::NoUpload)?;
        let started = Instant::now();
        let features = self.images.decode(upload, |pixels| features(&pixels));
        let features = features.instrument(tracing::info_span!(target: traces::TARGET, "decode")).await;
        let decode_us = micros(started.elapsed());
        let features = match features {
            Ok(Some(features)) => features,
            Ok(None) => {
                let detail = "the image is blank: expected an image of one handwritten character";
                return Ok((Outcome::rejected("file", "no_ink", detail), Timing { decode_us, infer_us: 0 }));
            }
            Err(undecodable) => return Ok((undecodable.into(), Timing { decode_us, infer_us: 0 })),
        };
        let answer = self.engine.get().await?.infer(Turn { requester, cost: 1 }, features).await?;
        let best = answer.output.into_iter().take(top_k.get().into());
        let predictions =
            best.map(|s| Prediction { label: s.label.as_ref().to_owned(), score: s.score }).collect();
        let timing = Timing { decode_us, infer_us: micros(answer.took) };
        Ok((Outcome::Predictions { predictions }, timing))
    }
}

fn engine(
    runtime: &Runtime,
    manifest: &Manifest,
    config: &Config,
) -> Result<Engine<Classifier>, WorkerError> {
    let classifier = Classifier::load(runtime, manifest, config.inference_threads.get())?;
    engines::start(manifest, classifier, BATCHES)
}

/// A classifier's input for a decoded picture, as [`ink::features`] computes it. `None` if the picture has no
/// ink.
fn features(pixels: &Pixels) -> Option<Vec<f32>> {
    ink::features(pixels.view()?).ok()
}

/// A classifier's input for a picture of at most 256 x 256 pixels, computed in the same way as for a job. For
/// benchmarks.
///
/// `None` if the picture is larger, cannot be decoded or has no ink.
pub fn classifier_input(upload: &Upload) -> Option<Vec<f32>> {
    match ImageDecoding::new(u64::MAX).decode_small(upload) {
        Ok(DecodedImage::Pixels(pixels)) => features(&pixels),
        Ok(DecodedImage::Large(_)) | Err(_) => None,
    }
}
