//! Runs image classifiers. They take ink features (see [`crate::ink`]) and give calibrated probabilities.

use std::{borrow::Cow, sync::Arc};

use crate::{
    cast::dimension,
    error::LoadError,
    ink::SIDE,
    layout::Layout,
    manifest::Manifest,
    runtime::{Runtime, RuntimeError, Session, Tensor},
};

/// A loaded model with the `image-classifier` layout.
pub struct Classifier {
    session: Session,
    labels: Vec<Arc<str>>,
}

/// One label with its calibrated probability, 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The character, in NFC.
    pub label: Arc<str>,
    /// The character's probability, 0 to 1.
    pub score: f32,
}

impl Classifier {
    /// Loads the model and runs it once, so that the first request is not slowed down by set-up. `n_threads`
    /// is the number of threads that one run may use.
    ///
    /// # Errors
    ///
    /// When the manifest has another layout, its file is missing or has another hash, or the model cannot be
    /// run.
    pub fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        manifest.expect(Layout::ImageClassifier)?;
        let session = runtime.open(&manifest.id, manifest.graph("model")?, n_threads)?;
        let labels = manifest.labels.iter().map(|label| Arc::from(label.as_str())).collect();
        let mut classifier = Self { session, labels };
        classifier.classify(&[vec![0.0; SIDE * SIDE]])?;
        Ok(classifier)
    }

    /// Scores every label for each image. The result has one row for each image, with one score for each
    /// label, the highest first.
    ///
    /// Each image is a square of `SIDE * SIDE` values of ink coverage from 0 to 1 in row-major order, as
    /// [`crate::ink::features`] computes it.
    ///
    /// # Errors
    ///
    /// When the run fails, or the model gives a wrong number of probabilities.
    pub fn classify(&mut self, images: &[Vec<f32>]) -> Result<Vec<Vec<Score>>, RuntimeError> {
        let n = images.len();
        let shape = [n, 1, SIDE, SIDE].map(dimension);
        // A single image needs no copy.
        let ink = match images {
            [image] => Cow::Borrowed(image.as_slice()),
            images => Cow::Owned(images.concat()),
        };
        let [probabilities] =
            self.session.run(vec![("ink", Tensor::F32(&shape, &ink))], ["probabilities"])?;
        let probabilities = probabilities.values;
        if probabilities.len() != n * self.labels.len() {
            let found = probabilities.len();
            let expected = n * self.labels.len();
            let what = format!("it gave {found} probabilities for {n} images: expected {expected}");
            return Err(self.session.layout_error(what));
        }
        Ok(probabilities.chunks_exact(self.labels.len().max(1)).map(|row| self.rank(row)).collect())
    }

    fn rank(&self, probabilities: &[f32]) -> Vec<Score> {
        let labelled = self.labels.iter().zip(probabilities);
        let mut scores: Vec<Score> =
            labelled.map(|(label, &score)| Score { label: Arc::clone(label), score }).collect();
        scores.sort_by(|a, b| b.score.total_cmp(&a.score));
        scores
    }
}
