//! Runs Whisper models with the layout that Optimum exports: from a window's features to words with times.
//!
//! The rules for timestamps, the suppressed tokens, the no-speech threshold and the temperature fallback are
//! those of Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision", 2022, as the
//! transformers library implements them.

#[cfg(test)]
mod golden_tests;
mod rules;
mod segments;

use std::sync::Arc;

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

use super::{SpeechModel, WindowInput, WindowOutput};
use crate::{
    cast::count,
    error::LoadError,
    manifest::Manifest,
    runtime::{Runtime, RuntimeError},
    scores::{highest, log_softmax},
    seq2seq::{DecoderState, Network, Tokens},
    speech::{
        features::{Features, FrontEnd, WhisperMel},
        words::{Clock, Transcript, spread},
    },
};
use rules::Rules;
use segments::{TimedTokens, segments};

/// The number of samples in one step of the timestamps (20 ms).
const GRID: usize = 320;
/// A window counts as silence if its no-speech probability is higher than this, and its text is unlikely.
const NO_SPEECH_THRESHOLD: f64 = 0.6;
/// A text is unlikely if the mean log-probability of its tokens is lower than this.
const LOGPROB_THRESHOLD: f64 = -1.0;
/// A text with a higher compression ratio repeats itself.
const COMPRESSION_RATIO_THRESHOLD: f64 = 2.4;
/// The sampling temperatures of the tries, in order.
const TEMPERATURES: [f64; 4] = [0.0, 0.4, 0.8, 1.0];

/// A loaded Whisper model.
pub(super) struct Whisper {
    network: Network,
    tokens: Tokens,
    rules: Rules,
    n_mels: usize,
}

/// The result of decoding a window once.
#[derive(Debug, Clone)]
struct Decoded {
    /// The tokens after the prompt, with the end token if it was generated.
    tokens: Vec<i64>,
    /// The mean log-probability of the tokens.
    avg_logprob: f64,
    /// The probability of the no-speech token directly after the start token.
    no_speech: f64,
}

impl SpeechModel for Whisper {
    fn front_end(&self) -> Arc<dyn FrontEnd> {
        Arc::new(WhisperMel::new(self.n_mels))
    }

    fn clock(&self) -> Clock {
        Clock { grid: GRID, latency_s: 0.0 }
    }

    fn infer(
        &mut self,
        windows: &[WindowInput<'_>],
        language: &str,
    ) -> Result<Vec<WindowOutput>, RuntimeError> {
        let transcripts = windows.iter().map(|window| self.transcribe(window.features, language));
        transcripts.map(|transcript| transcript.map(WindowOutput::Transcript)).collect()
    }
}

impl Whisper {
    pub(super) fn load(runtime: &Runtime, manifest: &Manifest, n_threads: usize) -> Result<Self, LoadError> {
        let tokens = Tokens::read(manifest, "tokenizer")?;
        let rules = Rules::read(manifest, &tokens)?;
        let network = Network::load(runtime, manifest, n_threads)?;
        let n_mels = network.n_bands().filter(|n| (1..=256).contains(n));
        let n_mels = n_mels.ok_or_else(|| {
            manifest.inconsistent("its encoder has no input_features of 1 to 256 bands".to_owned())
        })?;
        Ok(Self { network, tokens, rules, n_mels })
    }

    /// Transcribes a window in the language with this code. The transcript of silence is empty.
    fn transcribe(&mut self, features: &Features, language: &str) -> Result<Transcript, RuntimeError> {
        let Some(prompt) = self.rules.prompt(language) else {
            return Err(self.network.unfit(format!("its manifest has no language {language:?}")));
        };
        let mut rng = StdRng::seed_from_u64(features.values.iter().map(|v| u64::from(v.to_bits())).sum());
        let mut best: Option<(Decoded, String)> = None;
        for temperature in TEMPERATURES {
            let decoded =
                self.decode(features, &prompt, true, self.rules.max_new_tokens, temperature, &mut rng)?;
            if decoded.no_speech > NO_SPEECH_THRESHOLD && decoded.avg_logprob < LOGPROB_THRESHOLD {
                return Ok(Transcript { tokens: Vec::new(), blanks: vec![true; features.n_frames / 2] });
            }
            let text = self.text(&decoded.tokens)?;
            let is_good = decoded.avg_logprob >= LOGPROB_THRESHOLD
                && compression_ratio(&text) <= COMPRESSION_RATIO_THRESHOLD;
            if best.as_ref().is_none_or(|(b, _)| decoded.avg_logprob > b.avg_logprob) || is_good {
                best = Some((decoded, text));
            }
            if is_good {
                break;
            }
        }
        let segments = best.map_or_else(Vec::new, |(decoded, _)| segments(&decoded.tokens, &self.rules));
        self.transcript(&segments, features.n_frames / 2)
    }

    /// Decodes a window after a prompt. At temperature 0 each token is the likeliest one; at a higher
    /// temperature it is drawn at random.
    fn decode(
        &mut self,
        features: &Features,
        prompt: &[i64],
        with_timestamps: bool,
        max_new_tokens: usize,
        temperature: f64,
        rng: &mut StdRng,
    ) -> Result<Decoded, RuntimeError> {
        let mut state =
            self.network.encode_features([features.n_mels, features.n_frames], &features.values)?;
        let (first, mut logits) = ends(&mut state, prompt)?;
        let mut scores: Vec<f64> = first.iter().map(|l| f64::from(*l)).collect();
        log_softmax(&mut scores);
        let no_speech = self.rules.no_speech.and_then(|t| scores.get(t)).map_or(0.0, |s| s.exp());
        let mut tokens = Vec::new();
        let mut sum = 0.0;
        while tokens.len() < max_new_tokens {
            let scores = self.rules.scores(&logits, &tokens, with_timestamps);
            let token = if temperature > 0.0 { draw(&scores, temperature, rng) } else { highest(&scores) };
            sum += scores.get(token).copied().unwrap_or_default();
            let token = i64::try_from(token).unwrap_or(self.rules.eos_token);
            tokens.push(token);
            if token == self.rules.eos_token {
                break;
            }
            logits = ends(&mut state, &[token])?.1;
        }
        let avg_logprob = sum / count(tokens.len().max(1));
        Ok(Decoded { tokens, avg_logprob, no_speech })
    }

    fn text(&self, tokens: &[i64]) -> Result<String, RuntimeError> {
        let text: Vec<i64> = tokens.iter().copied().filter(|t| *t < self.rules.eos_token).collect();
        self.tokens.text(&text).map_err(|reason| self.network.unfit(reason))
    }

    /// The transcript of segments: each word takes the share of its segment's time that its letters take.
    fn transcript(&self, segments: &[TimedTokens], n_frames: usize) -> Result<Transcript, RuntimeError> {
        let mut tokens = Vec::new();
        let mut blanks = vec![true; n_frames];
        for segment in segments {
            let text = self.text(&segment.tokens)?;
            let end = segment.end.min(n_frames).max(segment.start);
            if let Some(spoken) = blanks.get_mut(segment.start..end) {
                spoken.fill(false);
            }
            tokens.extend(spread(&text, segment.start..end));
        }
        Ok(Transcript { tokens, blanks })
    }
}

/// Runs the decoder on tokens of one row. Returns the logits after the first and after the last token.
fn ends(state: &mut DecoderState<'_>, tokens: &[i64]) -> Result<(Vec<f32>, Vec<f32>), RuntimeError> {
    let logits = state.run(tokens)?;
    let vocabulary = logits.shape.last().copied().unwrap_or(0).max(1);
    let mut rows = logits.values.chunks_exact(vocabulary).map(<[f32]>::to_vec);
    let first = rows.next().unwrap_or_default();
    let last = rows.next_back().unwrap_or_else(|| first.clone());
    Ok((first, last))
}

/// Draws a token at random. A higher temperature makes the probabilities more equal.
fn draw(scores: &[f64], temperature: f64, rng: &mut StdRng) -> usize {
    let mut flat: Vec<f64> = scores.iter().map(|s| s / temperature).collect();
    log_softmax(&mut flat);
    let mut left: f64 = rng.random();
    for (token, score) in flat.iter().enumerate() {
        left -= score.exp();
        if left <= 0.0 && *score > f64::NEG_INFINITY {
            return token;
        }
    }
    highest(scores)
}

/// The size of a text divided by its size after zlib compression. It is high for texts that repeat
/// themselves.
fn compression_ratio(text: &str) -> f64 {
    let compressed = miniz_oxide::deflate::compress_to_vec_zlib(text.as_bytes(), 6);
    count(text.len()) / count(compressed.len().max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_repeats_itself_has_a_high_compression_ratio() {
        assert!(compression_ratio("ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ, ਮੇਰਾ ਨਾਂ ਗੁਰਪ੍ਰੀਤ ਹੈ") < COMPRESSION_RATIO_THRESHOLD);
        assert!(compression_ratio(&"ਸਤਿ ਸ੍ਰੀ ".repeat(20)) > COMPRESSION_RATIO_THRESHOLD);
        assert!(compression_ratio("") < COMPRESSION_RATIO_THRESHOLD);
    }

    #[test]
    fn a_suppressed_token_is_never_drawn() {
        let mut rng = StdRng::seed_from_u64(1);
        let scores = [f64::NEG_INFINITY, 0.5_f64.ln(), f64::NEG_INFINITY, 0.5_f64.ln()];
        let drawn: Vec<usize> = (0..100).map(|_| draw(&scores, 0.7, &mut rng)).collect();
        assert!(drawn.iter().all(|t| *t == 1 || *t == 3));
        assert!(drawn.contains(&1) && drawn.contains(&3));
    }
}
