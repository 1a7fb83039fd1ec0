//! CTC models of Omnilingual ASR, as sherpa-onnx exports them: windows' samples in; tokens with their frames out.
//!
//! Keren et al., "Omnilingual ASR: Open-Source Multilingual Speech Recognition for 1600+ Languages", 2025. The text is in
//! the language that is spoken, and its script: the model takes no language.

#[cfg(test)]
mod golden_tests;

use std::sync::Arc;

use super::{SpeechModel, WindowInput, WindowOutput};
use crate::{
    cast::dimension,
    error::LoadError,
    layout::Layout,
    manifest::Manifest,
    runtime::{Runtime, RuntimeError, Session, Tensor},
    speech::{
        ctc::{Units, greedy},
        features::{Features, FrontEnd, Waveform},
        words::{Clock, Transcript},
    },
};

/// The number of samples from one output frame to the next (20 ms).
const GRID: usize = 320;

pub(super) struct Omnilingual {
    session: Session,
    units: Units,
}

impl SpeechModel for Omnilingual {
    fn front_end(&self) -> Arc<dyn FrontEnd> {
        Arc::new(Waveform)
    }

    fn clock(&self) -> Clock {
        Clock { grid: GRID, latency_s: 0.0 }
    }

    /// Runs one window at a time: in a quantised model, the values of one would round those of another.
    fn infer(
        &mut self,
        windows: &[WindowInput<'_>],
        _language: &str,
    ) -> Result<Vec<WindowOutput>, RuntimeError> {
        let transcripts = windows.iter().map(|window| self.transcribe(window.features));
        transcripts.map(|transcript| transcript.map(WindowOutput::Transcript)).collect()
    }
}

impl Omnilingual {
    pub(super) fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        manifest.expect(Layout::Omnilingual)?;
        if manifest.decoding.is_some() {
            let what = "the layout omnilingual has no beam search: expected no [decoding]".to_owned();
            return Err(manifest.inconsistent(what).into());
        }
        let units = Units::read(manifest)?;
        let session = runtime.open(&manifest.id, manifest.graph("model")?, n_threads)?;
        Ok(Self { session, units })
    }

    /// The transcript of a window. Its scores, those of thousands of units in each frame, are not kept.
    fn transcribe(&mut self, window: &Features) -> Result<Transcript, RuntimeError> {
        let n_samples = window.values.len();
        let shape = [1, n_samples].map(dimension);
        let [scores] = self.session.run(vec![("x", Tensor::F32(&shape, &window.values))], ["logits"])?;
        let n_units = self.units.len();
        match scores.shape[..] {
            [1, n_frames, n] if n == n_units && n_frames.abs_diff(n_samples / GRID) <= 1 => (),
            _ => {
                return Err(self.session.layout_error(format!(
                    "for {n_samples} samples and the {n_units} units of its vocab, it gave logits of the shape {:?}: \
                     expected [1, T, {n_units}] with a frame for each {GRID} samples",
                    scores.shape
                )));
            }
        }
        let frames: Vec<&[f32]> = scores.values.chunks_exact(n_units.max(1)).collect();
        Ok(greedy(&frames, &self.units))
    }
}
