//! CTC models on Whisper's encoder: windows' log-mel features, as Whisper computes them, in; the log-probabilities of each
//! output frame out.
//!
//! `training/speech/whisper_ctc` trains and exports such models: `features` f32 [1, mels, T] -> `logprobs` f32
//! [1, T', units]. A window is not padded to 30 s. Windows run one at a time, because the operator that needs no
//! memory for a matrix of frames by frames takes no mask.

#[cfg(test)]
mod golden_tests;

use super::{
    ctc::{CtcModel, Encoder},
    nemo::ExportConfig,
};
use crate::{
    cast::dimension,
    error::LoadError,
    layout::Layout,
    manifest::Manifest,
    runtime::{Runtime, RuntimeError, Session, Tensor},
    speech::{
        ctc::{CtcDecoder, Emissions},
        features::{Features, WhisperMel},
    },
};

struct WhisperEncoder {
    session: Session,
    n_units: usize,
    subsampling_factor: usize,
    /// The silence before and behind each window, output frames.
    n_padding: usize,
}

pub(super) fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<CtcModel, LoadError> {
    manifest.expect(Layout::WhisperCtc)?;
    let config = ExportConfig::read(manifest)?;
    let subsampling_factor = config.subsampling_factor;
    let session = runtime.open(&manifest.id, manifest.graph("model")?, n_threads)?;
    let decoder = CtcDecoder::load(manifest)?;
    let n_units = decoder.n_units();
    let encoder = WhisperEncoder { session, n_units, subsampling_factor, n_padding: config.n_padding() };
    let front_end = WhisperMel::of_any_length(config.features_size);
    Ok(CtcModel::new(front_end, encoder, decoder, subsampling_factor))
}

impl Encoder for WhisperEncoder {
    fn emissions(&mut self, windows: &[&Features]) -> Result<Vec<Emissions>, RuntimeError> {
        windows.iter().map(|window| self.emissions_of(window)).collect()
    }
}

impl WhisperEncoder {
    fn emissions_of(&mut self, window: &Features) -> Result<Emissions, RuntimeError> {
        let Self { n_units, n_padding, .. } = *self;
        let n_frames = window.n_frames.div_ceil(self.subsampling_factor);
        // The encoder, which was trained on 30 s at a time, hears a single word better with silence beside it.
        let padded = window.padded(n_padding * self.subsampling_factor, WhisperMel::silence(window));
        let shape = [1, padded.n_mels, padded.n_frames].map(dimension);
        let inputs = vec![("features", Tensor::F32(&shape, &padded.values))];
        let [log_probs] = self.session.run(inputs, ["logprobs"])?;
        let expected = [1, n_frames + 2 * n_padding, n_units];
        if log_probs.shape != expected {
            return Err(self.session.layout_error(format!(
                "for {} frames of features it gave logprobs of the shape {:?}: expected {expected:?}",
                padded.n_frames, log_probs.shape
            )));
        }
        let mut log_probs = log_probs.values;
        log_probs.truncate((n_padding + n_frames) * n_units);
        log_probs.drain(..n_padding * n_units);
        Ok(Emissions::new(log_probs))
    }
}
