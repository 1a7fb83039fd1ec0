//! Letter and digit recognition jobs: from a picture of one character to its likeliest labels.

use std::{sync::Arc, time::Instant};

use akhar_inference::{Classifier, Manifest, Registry, Runtime, RuntimeError, Score, ink};
use akhar_jobs::Timing;
use akhar_platform::{config::Config, telemetry::traces};
use akhar_requests::{Operation, Outcome, Prediction, TopK, Upload};
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

/// Pictures in one run of a classifier at most. They cost the same. More of them make a run longer, and no picture
/// faster, by `cargo bench --package akhar-bench --bench parts -- recognition`.
const BATCHES: BatchLimits = BatchLimits { max_inputs: 8, max_cost: u64::MAX };

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

#[cfg(test)]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "features are from 0 to 1, and sides are small"
)]
mod tests {
    use std::path::PathBuf;

    use akhar_requests::MediaType;
    use image::{DynamicImage, GrayImage, RgbImage, imageops::FilterType};

    use super::*;

    /// The side of the square of features.
    const SIDE: u32 = ink::SIDE as u32;

    fn fixtures(path: &str) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures").join(path)
    }

    /// The decoded pictures of characters, by name.
    fn pictures() -> Vec<(String, RgbImage)> {
        let files = std::fs::read_dir(fixtures("images")).unwrap().map(|file| file.unwrap().path());
        let mut files: Vec<PathBuf> =
            files.filter(|path| path.extension().is_some_and(|e| e == "png" || e == "jpg")).collect();
        files.sort();
        let picture = |path: PathBuf| {
            let is_png = path.extension().is_some_and(|e| e == "png");
            let media_type = if is_png { MediaType::Png } else { MediaType::Jpeg };
            let upload = Upload { media_type, bytes: std::fs::read(&path).unwrap().into() };
            match ImageDecoding::new(u64::MAX).decode_small(&upload).unwrap() {
                DecodedImage::Pixels(Pixels::Rgb(picture)) => {
                    (path.file_name().unwrap().to_string_lossy().into_owned(), picture)
                }
                other => panic!("{}: {other:?}", path.display()),
            }
        };
        files.into_iter().map(picture).collect()
    }

    /// `features.png` has a row for each picture: the features of the picture, of the picture with sides of 64
    /// and of 500 pixels, and of the picture in grey. The classifiers were trained on features from the program
    /// that wrote it.
    #[test]
    fn features_are_those_on_which_the_classifiers_were_trained() {
        /// In training, features have 256 steps. They may differ by one, and the file's are rounded by half a step.
        const TOLERANCE: f32 = 1.5 / 255.0;
        let expected = image::open(fixtures("ink/features.png")).unwrap().into_luma8();
        let mut found = GrayImage::new(expected.width(), expected.height());
        let mut different = Vec::new();
        for ((name, picture), top) in pictures().into_iter().zip((0..).step_by(SIDE as usize)) {
            let scaled = |side| image::imageops::resize(&picture, side, side, FilterType::Nearest);
            let grey = DynamicImage::ImageRgb8(picture.clone()).into_luma8();
            let (small, large) = (scaled(64), scaled(500));
            let variants = [Pixels::Rgb(picture), Pixels::Rgb(small), Pixels::Rgb(large), Pixels::Grey(grey)];
            for (pixels, left) in variants.iter().zip((0..).step_by(SIDE as usize)) {
                let mut largest: f32 = 0.0;
                for (value, at) in features(pixels).unwrap().into_iter().zip(0..) {
                    let (x, y) = (left + at % SIDE, top + at / SIDE);
                    largest = largest.max((value - f32::from(expected.get_pixel(x, y).0[0]) / 255.0).abs());
                    found.put_pixel(x, y, image::Luma([(value * 255.0).round() as u8]));
                }
                if largest > TOLERANCE {
                    different.push(format!("{name}, variant {}: {largest}", left / SIDE));
                }
            }
        }
        let path = std::env::temp_dir().join("features.png");
        if !different.is_empty() {
            found.save(&path).unwrap();
        }
        assert!(
            different.is_empty(),
            "the features have changed, and models are trained on them: train the models again, then take {} \
             as tests/fixtures/ink/features.png. {different:?}",
            path.display()
        );
    }
}
