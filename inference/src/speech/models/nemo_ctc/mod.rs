//! CTC models with the layout that NeMo exports: a window's features in; the log-probabilities of each output frame out.
//! A model may also give those of 22 languages, of which only the units for Panjabi are used. The largest of these comes in
//! two graphs.

#[cfg(test)]
mod golden_tests;

use super::{
    ctc::{CtcModel, Encoder},
    nemo::{self, ExportConfig},
};
use crate::{
    cast::{count, narrow},
    error::LoadError,
    layout::Layout,
    manifest::Manifest,
    runtime::{Array, Runtime, RuntimeError, Session, Tensor},
    speech::{
        ctc::{CtcDecoder, Emissions, INDIC_PANJABI, N_INDIC},
        features::{Batch, Features},
    },
};

struct NemoEncoder {
    /// The whole network, or the one below `head`.
    session: Session,
    /// The last layer, in the layout `indic-conformer`.
    head: Option<Session>,
    n_units: usize,
    subsampling_factor: usize,
}

pub(super) fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<CtcModel, LoadError> {
    let config = ExportConfig::read(manifest)?;
    let subsampling_factor = config.subsampling_factor;
    let open = |role| -> Result<Session, LoadError> {
        Ok(runtime.open(&manifest.id, manifest.graph(role)?, n_threads)?)
    };
    let (session, head) = match manifest.layout {
        Layout::NemoCtc => (open("model")?, None),
        Layout::IndicConformer => (open("encoder")?, Some(open("head")?)),
        _ => return Err(manifest.unfit().into()),
    };
    let decoder = CtcDecoder::load(manifest)?;
    let encoder = NemoEncoder { session, head, n_units: decoder.n_units(), subsampling_factor };
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
        let n_valid = window.n_frames.saturating_sub(1) / self.subsampling_factor + 1;
        let [log_probs] = match &mut self.head {
            None => self.session.run(nemo::inputs(&batch), ["logprobs"])?,
            Some(head) => in_two(&mut self.session, head, &batch, n_valid)?,
        };
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
        values.truncate(n_valid * n_units);
        Ok(Emissions::new(values))
    }
}

/// The scores of one window, which has `n_valid` output frames, by a network and its last layer.
fn in_two(
    encoder: &mut Session,
    head: &mut Session,
    batch: &Batch,
    n_valid: usize,
) -> Result<[Array; 1], RuntimeError> {
    let inputs = nemo::named_inputs(batch, ["features", "features_lens"]);
    let outputs = encoder.run_retained(inputs, &["encoded", "encoded_lens"])?;
    let [frames, lengths] = &outputs[..] else { return Err(encoder.layout_error("expected two outputs")) };
    let lengths = encoder.read(lengths)?.values;
    if lengths != [narrow(count(n_valid))] {
        let n_frames = batch.lengths[0];
        return Err(encoder.layout_error(format!(
            "for {n_frames} frames, encoded_lens is {lengths:?}: expected [{n_valid}] by the subsampling_factor of its config"
        )));
    }
    head.run(vec![("encoded", Tensor::Retained(frames))], ["logits"])
}

/// The log-probabilities of the units for Panjabi and of the blank, as if there were no others. `scores` has those of 22
/// languages, as log-probabilities or up to a constant of each frame.
fn panjabi(scores: &[f32]) -> Vec<f32> {
    let frame = |frame: &[f32]| {
        let kept = [&frame[INDIC_PANJABI], &frame[N_INDIC - 1..]].concat();
        let largest = kept.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let total = largest + kept.iter().map(|score| (score - largest).exp()).sum::<f32>().ln();
        kept.into_iter().map(move |score| score - total)
    };
    scores.chunks_exact(N_INDIC).flat_map(frame).collect()
}
