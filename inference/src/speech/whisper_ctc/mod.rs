//! CTC models on Whisper's encoder: from windows' log-mel features, as Whisper computes them, to the
//! log-probabilities of each output frame.
//!
//! `training/speech/whisper_ctc` trains and exports such models: `features` f32 [1, mels, T] -> `logprobs` f32
//! [1, T', units]. A window is not padded to 30 s. Windows run one at a time, because the operator that needs no
//! memory for a matrix of frames by frames takes no mask.

#[cfg(test)]
mod golden_tests;

use std::sync::Arc;

use super::{
    config::Config,
    decoder::CtcDecoder,
    emissions::Emissions,
    features::{Features, HOP, WhisperMel},
    words::Clock,
};
use crate::{
    Layout, LoadError, Manifest, Runtime, RuntimeError,
    cast::dimension,
    runtime::{Session, Tensor},
};

/// A loaded model and its decoder.
pub(crate) struct WhisperCtc {
    session: Session,
    decoder: Arc<CtcDecoder>,
    config: Config,
}

impl WhisperCtc {
    pub(crate) fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        manifest.expect(Layout::WhisperCtc)?;
        let config = Config::read(manifest)?;
        let session = runtime.open(&manifest.id, &manifest.read("model")?, n_threads)?;
        Ok(Self { session, decoder: Arc::new(CtcDecoder::load(manifest)?), config })
    }

    /// The feature extraction that the model expects.
    pub(crate) fn front_end(&self) -> WhisperMel {
        WhisperMel::of_any_length(self.config.features_size)
    }

    /// The times of the model's output frames.
    pub(crate) fn clock(&self) -> Clock {
        Clock { grid: self.config.subsampling_factor * HOP, latency_s: self.decoder.latency_s() }
    }

    /// The decoder of the model's emissions.
    pub(crate) fn decoder(&self) -> Arc<CtcDecoder> {
        self.decoder.clone()
    }

    /// Runs the model on one window, which must have at least one frame.
    pub(crate) fn infer(&mut self, window: &Features) -> Result<Emissions, RuntimeError> {
        let (factor, n_units) = (self.config.subsampling_factor, self.decoder.n_units());
        let (n_frames, n_padding) = (window.n_frames.div_ceil(factor), self.config.n_padding());
        // The encoder, which was trained on 30 s at a time, hears a single word better with silence beside it.
        let padded = window.padded(n_padding * factor, WhisperMel::silence(window));
        let shape = [1, padded.n_mels, padded.n_frames].map(dimension);
        let [log_probs] =
            self.session.run(vec![("features", Tensor::F32(&shape, &padded.values))], ["logprobs"])?;
        let expected = [1, n_frames + 2 * n_padding, n_units];
        if log_probs.shape != expected {
            let what = format!(
                "for {} frames of features it gave logprobs of the shape {:?}: expected {expected:?}",
                padded.n_frames, log_probs.shape
            );
            return Err(self.session.layout_error(what));
        }
        let mut log_probs = log_probs.values;
        log_probs.truncate((n_padding + n_frames) * n_units);
        log_probs.drain(..n_padding * n_units);
        Ok(Emissions::new(log_probs))
    }
}
