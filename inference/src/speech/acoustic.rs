//! Runs acoustic models with the NeMo CTC layout: from batches of windows' features to the log-probabilities
//! of each output frame.

use std::sync::Arc;

use super::{
    config::Config,
    decoder::CtcDecoder,
    emissions::Emissions,
    features::{Batch, Features, HOP, LogMel},
    words::Clock,
};
use crate::{
    Layout, LoadError, Manifest, Runtime, RuntimeError,
    runtime::{Session, Tensor},
};

/// A loaded acoustic model and its decoder.
pub(crate) struct Acoustic {
    session: Session,
    decoder: Arc<CtcDecoder>,
    config: Config,
}

impl Acoustic {
    pub(crate) fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        manifest.expect(Layout::NemoCtc)?;
        let config = Config::read(manifest)?;
        let session = runtime.open(&manifest.id, &manifest.read("model")?, n_threads)?;
        Ok(Self { session, decoder: Arc::new(CtcDecoder::load(manifest)?), config })
    }

    /// The feature extraction that the model expects.
    pub(crate) fn front_end(&self) -> LogMel {
        self.config.front_end()
    }

    /// The times of the model's output frames.
    pub(crate) fn clock(&self) -> Clock {
        Clock { grid: self.config.subsampling_factor * HOP, latency_s: self.decoder.latency_s() }
    }

    /// The decoder of the model's emissions.
    pub(crate) fn decoder(&self) -> Arc<CtcDecoder> {
        self.decoder.clone()
    }

    /// Runs the model on a batch of windows. Each window must have at least one frame.
    pub(crate) fn infer(&mut self, windows: &[&Features]) -> Result<Vec<Emissions>, RuntimeError> {
        let batch = Batch::of(windows);
        let inputs = vec![
            ("audio_signal", Tensor::F32(&batch.shape, &batch.signal)),
            ("length", Tensor::I64(&batch.shape[..1], &batch.lengths)),
        ];
        let [log_probs] = self.session.run(inputs, ["logprobs"])?;
        let &[b, t, v] = &log_probs.shape[..] else {
            let what = format!("expected logprobs with 3 dimensions, found the shape {:?}", log_probs.shape);
            return Err(self.session.layout_error(what));
        };
        let (n, n_units) = (windows.len(), self.decoder.n_units());
        if b != n || v != n_units {
            let what = format!(
                "for {n} windows and {n_units} units it gave logprobs of the shape {:?}: \
                 expected [{n}, T, {n_units}]",
                log_probs.shape
            );
            return Err(self.session.layout_error(what));
        }
        let blocks = log_probs.values.chunks_exact((t * v).max(1));
        let emissions = |(block, window): (&[f32], &&Features)| {
            let valid = (window.n_frames.saturating_sub(1) / self.config.subsampling_factor + 1).min(t);
            Emissions::new(block[..valid * v].to_vec())
        };
        Ok(blocks.zip(windows).map(emissions).collect())
    }
}
