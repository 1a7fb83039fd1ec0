//! CTC models with the layout that NeMo exports: a window's features in; the log-probabilities of each output frame out.
//! A model may also give those of 22 languages, of which only the units for Panjabi are used.

#[cfg(test)]
mod golden_tests;

use super::{
    ctc::{CtcModel, Encoder},
    nemo::{self, ExportConfig},
};
use crate::{
    error::LoadError,
    manifest::{Layout, Manifest},
    runtime::{Runtime, RuntimeError, Session},
    speech::{
        ctc::{CtcDecoder, Emissions, INDIC_PANJABI, N_INDIC},
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
    let session = runtime.open(&manifest.id, manifest.graph("model")?, n_threads)?;
    let decoder = CtcDecoder::load(manifest)?;
    let encoder = NemoEncoder { session, n_units: decoder.n_units(), subsampling_factor };
    Ok(CtcModel::new(config.front_end(), encoder, decoder, subsampling_factor))
}

impl Encoder for NemoEncoder {
    /// Runs one window at a time: in a quantised model, the values of one would round those of another.
    fn emissions(&mut self, windows: &[&Features]) -> Result<Vec<Emissions>, RuntimeError> {
        windows.iter().map(|window| self.emissions_of(window)).collect()
    }
}

impl NemoEncoder {
    fn emissions_of(&mut self, window: &Features) -> Result<Emissions, RuntimeError> {
        let batch = Batch::of(&[window]);
        let [log_probs] = self.session.run(nemo::inputs(&batch), ["logprobs"])?;
        let n_units = self.n_units;
        let n_panjabi = INDIC_PANJABI.len() + 1;
        let mut values = match log_probs.shape[..] {
            [1, _, n] if n == n_units => log_probs.values,
            [1, _, N_INDIC] if n_units == n_panjabi => panjabi(&log_probs.values),
            _ => {
                return Err(self.session.layout_error(format!(
                    "for one window and the {n_units} units of its vocab, blank included, it gave logprobs of the shape {:?}: \
                     expected [1, T, {n_units}], or [1, T, {N_INDIC}] for the {n_panjabi} units of Panjabi",
                    log_probs.shape,
                )));
            }
        };
        let n_valid = window.n_frames.saturating_sub(1) / self.subsampling_factor + 1;
        values.truncate(n_valid * n_units);
        Ok(Emissions::new(values))
    }
}

/// The log-probabilities of the units for Panjabi and of the blank, as if there were no others. `log_probs` has those of
/// 22 languages.
fn panjabi(log_probs: &[f32]) -> Vec<f32> {
    let frame = |frame: &[f32]| {
        let kept = [&frame[INDIC_PANJABI], &frame[N_INDIC - 1..]].concat();
        let total = kept.iter().map(|log_prob| log_prob.exp()).sum::<f32>().max(f32::MIN_POSITIVE).ln();
        kept.into_iter().map(move |log_prob| log_prob - total)
    };
    log_probs.chunks_exact(N_INDIC).flat_map(frame).collect()
}
