//! Moonshine, in the layout Optimum exports: windows' samples come in; words with times come out.
//!
//! Jeffries et al., "Moonshine: Speech Recognition for Live Transcription and Voice Commands", 2024. The encoder
//! takes samples as they are. Windows are run one at a time: the encoder normalises over the window's whole length,
//! and the published weights are quantised with the range of the whole batch, so that a window in a batch would be
//! heard differently from the same window alone.

#[cfg(test)]
mod golden_tests;
mod repetition;

use std::ops::Range;

use super::{
    aligner::Aligner,
    features::{Features, FrontEnd, SAMPLE_RATE},
    spread::spread,
    transcript::Transcript,
    words::Clock,
};
use crate::{
    LoadError, Manifest, Runtime, RuntimeError,
    cast::count,
    seq2seq::{GenerationConfig, Network, Sequence, Tokens, search},
};
use repetition::repeats_itself;

/// Samples of a step of word times where no aligner gives them: 20 ms.
const GRID: usize = SAMPLE_RATE / 50;
/// Silence before and behind each window, samples: words cut tight are recognised worse.
const PADDING: usize = SAMPLE_RATE / 2;
/// No speech has more tokens a second. Letters spelt out have up to 8.5, very fast speech 8.
const MAX_TOKENS_PER_S: usize = 10;
/// Tokens that a window of any length may have besides.
const MIN_TOKENS: usize = 5;
/// A text that repeats itself is decoded again, with no run of so many tokens allowed twice.
const NO_REPEAT_NGRAM_SIZE: usize = 4;

/// A loaded Moonshine.
pub(crate) struct Moonshine {
    network: Network,
    tokens: Tokens,
    generation: GenerationConfig,
    logprob_threshold: f64,
    aligner: Option<Aligner>,
}

/// A window as the encoder takes it: its samples.
pub(crate) struct Samples;

impl FrontEnd for Samples {
    fn features(&self, samples: &[f32]) -> Features {
        Features { n_mels: 1, n_frames: samples.len(), values: samples.to_vec() }
    }
}

/// The text of a window, and the mean log-probability of its tokens.
struct Understood {
    text: String,
    log_prob: f64,
}

impl Moonshine {
    pub(crate) fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        let tokens = Tokens::read(manifest)?;
        let generation = manifest.generation.clone().unwrap_or_default();
        let logprob_threshold = generation.logprob_threshold.unwrap_or(f64::NEG_INFINITY);
        let generation = GenerationConfig::read(manifest, &tokens, &generation)?;
        let network = Network::load(runtime, manifest, n_threads)?;
        if !network.takes_samples() {
            return Err(manifest.inconsistent("its encoder takes no input_values".to_owned()).into());
        }
        let aligner = Aligner::load(runtime, manifest, n_threads)?;
        Ok(Self { network, tokens, generation, logprob_threshold, aligner })
    }

    /// The times that frames of its transcripts stand for.
    pub(crate) fn clock(&self) -> Clock {
        self.aligner.as_ref().map_or(Clock { grid: GRID, latency_s: 0.0 }, Aligner::clock)
    }

    /// Transcribes a window; the transcript is empty where nothing is said, or nothing that can be understood.
    pub(crate) fn transcribe(&mut self, window: &Features) -> Result<Transcript, RuntimeError> {
        let samples = &window.values;
        let frames = 0..samples.len().div_ceil(self.clock().grid);
        let Some(aligner) = &mut self.aligner else {
            let Understood { text, .. } = self.understand(samples)?;
            return Ok(Transcript {
                tokens: spread(&text, frames.clone()),
                blanks: vec![true; frames.len()],
            });
        };
        let Some(heard) = aligner.hear(samples)? else { return Ok(nothing(frames)) };
        let Understood { text, log_prob } = self.understand(samples)?;
        let transcript = self.aligner.as_ref().map(|aligner| aligner.transcript(&heard, &text, log_prob));
        Ok(transcript.unwrap_or_else(|| nothing(frames)))
    }

    /// The text of a window; empty where it is too unlikely.
    fn understand(&mut self, samples: &[f32]) -> Result<Understood, RuntimeError> {
        let mut padded = vec![0.0; PADDING];
        padded.extend_from_slice(samples);
        padded.resize(padded.len() + PADDING, 0.0);
        let max_new_tokens =
            (padded.len() * MAX_TOKENS_PER_S / SAMPLE_RATE + MIN_TOKENS).min(self.generation.max_new_tokens);
        let mut generation = GenerationConfig { max_new_tokens, ..self.generation.clone() };
        let mut found = self.generate(&padded, &generation)?;
        if found.tokens.len() == max_new_tokens || repeats_itself(&found.tokens) {
            generation.no_repeat_ngram_size = NO_REPEAT_NGRAM_SIZE;
            found = self.generate(&padded, &generation)?;
        }
        let log_prob = found.log_prob / count(found.tokens.len().max(1));
        if log_prob < self.logprob_threshold {
            return Ok(Understood { text: String::new(), log_prob });
        }
        let text = self.text(&found.tokens)?;
        let is_spoken = |word: &&str| word.contains(char::is_alphanumeric);
        let text = text.split_whitespace().filter(is_spoken).collect::<Vec<_>>().join(" ");
        Ok(Understood { text, log_prob })
    }

    fn generate(&mut self, samples: &[f32], generation: &GenerationConfig) -> Result<Sequence, RuntimeError> {
        let mut state = self.network.encode_samples(samples)?;
        Ok(search(&mut state, 1, generation)?.pop().unwrap_or_default())
    }

    fn text(&self, tokens: &[i64]) -> Result<String, RuntimeError> {
        self.tokens.text(tokens).map_err(|reason| self.network.unfit(reason))
    }
}

fn nothing(frames: Range<usize>) -> Transcript {
    Transcript { tokens: Vec::new(), blanks: vec![true; frames.len()] }
}
