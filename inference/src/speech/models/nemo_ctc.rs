//! CTC models with the layout that NeMo exports: batches of windows in; the log-probabilities of each output frame out.

use super::{
    ctc::{CtcModel, Encoder},
    nemo::{self, ExportConfig},
};
use crate::{
    error::LoadError,
    manifest::{Layout, Manifest},
    runtime::{Runtime, RuntimeError, Session},
    speech::{
        ctc::{CtcDecoder, Emissions},
        features::{Batch, Features},
    },
};

struct NemoEncoder {
    session: Session,
    n_units: usize,
    subsampling_factor: usize,
}

pub(super) fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<CtcModel, LoadError> {
    manifest.expect(Layout::NemoCtc)?;
    let config = ExportConfig::read(manifest)?;
    let subsampling_factor = config.subsampling_factor;
    let session = runtime.open(&manifest.id, &manifest.read("model")?, n_threads)?;
    let decoder = CtcDecoder::load(manifest)?;
    let encoder = NemoEncoder { session, n_units: decoder.n_units(), subsampling_factor };
    Ok(CtcModel::new(config.front_end(), encoder, decoder, subsampling_factor))
}

impl Encoder for NemoEncoder {
    fn emissions(&mut self, windows: &[&Features]) -> Result<Vec<Emissions>, RuntimeError> {
        let batch = Batch::of(windows);
        let [log_probs] = self.session.run(nemo::inputs(&batch), ["logprobs"])?;
        let n = windows.len();
        let n_units = self.n_units;
        let n_frames = match log_probs.shape[..] {
            [b, n_frames, v] if b == n && v == n_units => n_frames,
            _ => {
                return Err(self.session.layout_error(format!(
                    "for {n} windows and {n_units} units it gave logprobs of the shape {:?}: expected [{n}, T, {n_units}]",
                    log_probs.shape
                )));
            }
        };
        let blocks = log_probs.values.chunks_exact((n_frames * n_units).max(1));
        let emissions = |(block, window): (&[f32], &&Features)| {
            let n_valid = (window.n_frames.saturating_sub(1) / self.subsampling_factor + 1).min(n_frames);
            Emissions::new(block[..n_valid * n_units].to_vec())
        };
        Ok(blocks.zip(windows).map(emissions).collect())
    }
}
