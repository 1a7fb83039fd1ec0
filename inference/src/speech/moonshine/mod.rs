//! Moonshine, in the layout Optimum exports: windows' samples come in; words with times come out.
//!
//! Jeffries et al., "Moonshine: Speech Recognition for Live Transcription and Voice Commands", 2024. The encoder takes
//! samples as they are; it normalises over the window, so that a window filled up to another's length would be heard
//! differently, and windows are run one at a time.

#[cfg(test)]
mod golden_tests;

use super::{SAMPLE_RATE, features::Features, spread::spread, transcript::Transcript};
use crate::{
    LoadError, Manifest, Runtime, RuntimeError,
    seq2seq::{GenerationConfig, Network, Sequence, Tokens, search},
};

/// Samples of a step of word times: 20 ms.
pub(crate) const GRID: usize = SAMPLE_RATE / 50;
/// Fewer samples make no frame of the encoder.
const MIN_SAMPLES: usize = 895;

/// A loaded Moonshine.
pub(crate) struct Moonshine {
    network: Network,
    tokens: Tokens,
    generation: GenerationConfig,
}

impl Moonshine {
    pub(crate) fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        let tokens = Tokens::read(manifest)?;
        let generation = manifest.generation.clone().unwrap_or_default();
        let generation = GenerationConfig::read(manifest, &tokens, &generation)?;
        let network = Network::load(runtime, manifest, n_threads)?;
        if !network.takes_samples() {
            return Err(manifest.inconsistent("its encoder takes no input_values".to_owned()).into());
        }
        Ok(Self { network, tokens, generation })
    }

    /// A window as the encoder takes it: its samples.
    pub(crate) fn features(samples: &[f32]) -> Features {
        Features { n_mels: 1, n_frames: samples.len(), values: samples.to_vec() }
    }

    /// Transcribes a window.
    pub(crate) fn transcribe(&mut self, window: &Features) -> Result<Transcript, RuntimeError> {
        let mut samples = window.values.clone();
        samples.resize(samples.len().max(MIN_SAMPLES), 0.0);
        let found = self.generate(&samples)?;
        let text = self.text(&found.tokens)?;
        let n_frames = window.n_frames.div_ceil(GRID);
        Ok(Transcript { tokens: spread(&text, 0..n_frames), blanks: vec![true; n_frames] })
    }

    fn generate(&mut self, samples: &[f32]) -> Result<Sequence, RuntimeError> {
        let mut state = self.network.encode_samples(samples)?;
        Ok(search(&mut state, 1, &self.generation)?.pop().unwrap_or_default())
    }

    fn text(&self, tokens: &[i64]) -> Result<String, RuntimeError> {
        self.tokens.text(tokens).map_err(|reason| self.network.unfit(reason))
    }
}
