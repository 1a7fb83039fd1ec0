//! Moonshine, in the layout Optimum exports: windows' samples come in; words with times come out.
//!
//! Jeffries et al., "Moonshine: Speech Recognition for Live Transcription and Voice Commands", 2024. The encoder
//! takes samples as they are. Windows are run one at a time: the encoder normalises over the window's whole length,
//! and the published weights are quantised with the range of the whole batch, so that a window in a batch would give
//! another text than the same window alone.

#[cfg(test)]
mod golden_tests;

use std::{collections::HashSet, sync::Arc};

use super::{SpeechModel, WindowInput, WindowOutput, aligner::Aligner};
use crate::{
    cast::count,
    error::LoadError,
    key_terms::KeyTerms,
    manifest::Manifest,
    runtime::{Runtime, RuntimeError},
    seq2seq::{GenerationConfig, Network, Sequence, TermBias, TokenTexts, Tokens, is_loop, search},
    speech::{
        features::{Features, FrontEnd, SAMPLE_RATE},
        words::{Clock, Transcript, spread},
    },
};

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

/// Signs that stand for words, as figures do: what is said is written in words, and `numbers` writes it in figures.
const SIGNS: [char; 7] = ['%', '$', '£', '€', '₹', '°', '+'];

/// A loaded Moonshine.
pub(super) struct Moonshine {
    network: Network,
    tokens: Tokens,
    texts: Arc<TokenTexts>,
    generation: GenerationConfig,
    logprob_threshold: f64,
    aligner: Option<Aligner>,
}

/// A window as the encoder takes it: its samples.
struct Samples;

impl FrontEnd for Samples {
    fn features(&self, samples: &[f32]) -> Features {
        Features { n_mels: 1, n_frames: samples.len(), values: samples.to_vec() }
    }
}

/// The text of a window, and the mean log-probability of its tokens.
struct GeneratedText {
    text: String,
    log_prob: f64,
}

impl SpeechModel for Moonshine {
    fn front_end(&self) -> Arc<dyn FrontEnd> {
        Arc::new(Samples)
    }

    fn clock(&self) -> Clock {
        self.aligner.as_ref().map_or(Clock { grid: GRID, latency_s: 0.0 }, Aligner::clock)
    }

    fn alphabet(&self) -> HashSet<char> {
        ('a'..='z').chain('A'..='Z').chain('0'..='9').chain("'-.&".chars()).collect()
    }

    fn infer(
        &mut self,
        windows: &[WindowInput<'_>],
        _language: &str,
    ) -> Result<Vec<WindowOutput>, RuntimeError> {
        let transcripts = windows.iter().map(|window| self.transcribe(window.features, window.terms));
        transcripts.map(|transcript| transcript.map(WindowOutput::Transcript)).collect()
    }
}

impl Moonshine {
    pub(super) fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        let tokens = Tokens::read(manifest, "tokenizer")?;
        let generation = manifest.generation.clone().unwrap_or_default();
        let logprob_threshold = generation.logprob_threshold.unwrap_or(f64::NEG_INFINITY);
        let generation = GenerationConfig::read(manifest, &tokens, &generation)?;
        let generation = GenerationConfig { suppress_tokens: tokens.figures(&SIGNS), ..generation };
        let network = Network::load(runtime, manifest, n_threads)?;
        if !network.takes_samples() {
            return Err(manifest.inconsistent("its encoder takes no input_values".to_owned()).into());
        }
        let aligner = Aligner::load(runtime, manifest, n_threads)?;
        let texts = Arc::new(TokenTexts::of(&tokens));
        Ok(Self { network, tokens, texts, generation, logprob_threshold, aligner })
    }

    /// Transcribes a window; the transcript is empty where nothing is said, or nothing that can be understood.
    fn transcribe(&mut self, window: &Features, terms: &KeyTerms) -> Result<Transcript, RuntimeError> {
        let samples = &window.values;
        let frames = 0..samples.len().div_ceil(self.clock().grid);
        let blanks = vec![true; frames.len()];
        let speech = match &mut self.aligner {
            Some(aligner) => aligner.speech(samples)?,
            None => {
                return Ok(Transcript {
                    tokens: spread(&self.generate_text(samples, terms)?.text, frames),
                    blanks,
                });
            }
        };
        let Some(speech) = speech else { return Ok(Transcript { tokens: Vec::new(), blanks }) };
        let heard = self.aligner.as_ref().map(|aligner| aligner.heard(&speech, terms));
        let GeneratedText { text, log_prob } =
            self.generate_text(samples, heard.as_ref().unwrap_or(terms))?;
        let tokens = self.aligner.as_ref().map(|aligner| aligner.tokens(&speech, &text, log_prob));
        Ok(Transcript { tokens: tokens.unwrap_or_default(), blanks: speech.blanks })
    }

    /// The text of a window; empty where it is too unlikely.
    fn generate_text(&mut self, samples: &[f32], terms: &KeyTerms) -> Result<GeneratedText, RuntimeError> {
        let mut padded = vec![0.0; PADDING];
        padded.extend_from_slice(samples);
        padded.resize(padded.len() + PADDING, 0.0);
        let n_tokens = padded.len() * MAX_TOKENS_PER_S / SAMPLE_RATE + MIN_TOKENS;
        let max_new_tokens = n_tokens.min(self.generation.max_new_tokens);
        let mut generation = GenerationConfig { max_new_tokens, ..self.generation.clone() };
        let mut terms = (!terms.is_empty()).then(|| Arc::new(TermBias::new(terms, &self.texts)));
        let is_endless = |found: &Sequence| found.tokens.len() == max_new_tokens || is_loop(&found.tokens);
        let mut found = self.generate(&padded, terms.as_ref(), &generation)?;
        // A text without a term is the same as if there were none: terms that are not said change nothing.
        if terms.as_ref().is_some_and(|terms| terms.total(&found.tokens) <= 0.0 || is_endless(&found)) {
            terms = None;
            found = self.generate(&padded, None, &generation)?;
        }
        if is_endless(&found) {
            generation.no_repeat_ngram_size = NO_REPEAT_NGRAM_SIZE;
            found = self.generate(&padded, None, &generation)?;
        }
        // A term is preferred because the model alone finds it unlikely, so its bonus counts here, and not in the evidence.
        let mean = |log_prob: f64| log_prob / count(found.tokens.len().max(1));
        let log_prob = mean(found.log_prob - terms.map_or(0.0, |terms| terms.total(&found.tokens)));
        if mean(found.log_prob) < self.logprob_threshold {
            return Ok(GeneratedText { text: String::new(), log_prob });
        }
        let text = self.text(&found.tokens)?;
        let is_spoken = |word: &&str| word.contains(char::is_alphanumeric);
        let text = text.split_whitespace().filter(is_spoken).collect::<Vec<_>>().join(" ");
        Ok(GeneratedText { text, log_prob })
    }

    fn generate(
        &mut self,
        samples: &[f32],
        terms: Option<&Arc<TermBias>>,
        generation: &GenerationConfig,
    ) -> Result<Sequence, RuntimeError> {
        search(&mut self.network.encode_samples(samples)?, terms, generation)
    }

    fn text(&self, tokens: &[i64]) -> Result<String, RuntimeError> {
        self.tokens.text(tokens).map_err(|reason| self.network.unfit(reason))
    }
}
