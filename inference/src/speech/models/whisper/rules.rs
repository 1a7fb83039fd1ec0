//! Applies Whisper's rules to the logits of the next token: suppressed tokens get a log-probability of minus
//! infinity.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{
    manifest::{Manifest, ManifestError},
    scores::log_softmax,
    seq2seq::Tokens,
};

/// The default for the largest number of tokens of a window and its prompt, if the model does not give one.
const MAX_LENGTH: usize = 448;
/// The largest number of tokens of a window. A longer text repeats itself.
const MAX_NEW_TOKENS: usize = 224;
/// The number of tokens in the longest prompt: start, language, task and no timestamps.
const PROMPT: usize = 4;

/// A model's special tokens, and the tokens that it suppresses.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub(super) eos_token: i64,
    pub(super) no_speech: Option<usize>,
    /// The prompt of each language code: start, language, task.
    prompts: BTreeMap<String, Vec<i64>>,
    /// The token at the end of the prompt for a transcript without timestamps.
    pub(super) no_timestamps: usize,
    /// The timestamp token of 0.00 s. Each token after it stands for 20 ms more.
    timestamp_begin: usize,
    /// The latest time of the first timestamp, in steps of 20 ms.
    max_initial_timestamp_index: Option<usize>,
    /// The largest number of tokens of a window, without the prompt.
    pub(super) max_new_tokens: usize,
    suppress_tokens: Vec<usize>,
    begin_suppress_tokens: Vec<usize>,
}

/// The parts of `generation_config.json` that are needed.
#[derive(Deserialize)]
struct GenerationFile {
    eos_token_id: i64,
    decoder_start_token_id: i64,
    no_timestamps_token_id: usize,
    #[serde(default)]
    max_initial_timestamp_index: Option<usize>,
    #[serde(default)]
    max_length: Option<usize>,
    #[serde(default)]
    suppress_tokens: Vec<i64>,
    #[serde(default)]
    begin_suppress_tokens: Vec<i64>,
    #[serde(default)]
    task_to_id: BTreeMap<String, i64>,
}

impl Rules {
    pub(super) fn read(manifest: &Manifest, tokens: &Tokens) -> Result<Self, ManifestError> {
        let wrong = |what: String| {
            manifest.inconsistent(format!("the model's generation_config.json is not valid: {what}"))
        };
        let generation: GenerationFile =
            serde_json::from_slice(&manifest.read("generation")?).map_err(|e| wrong(e.to_string()))?;
        let task = generation.task_to_id.get("transcribe").copied();
        let language = |(code, token): (&String, &String)| {
            let language = tokens.named(manifest, token)?;
            let prompt = [Some(generation.decoder_start_token_id), Some(language), task];
            Ok((code.clone(), prompt.into_iter().flatten().collect()))
        };
        let places = |tokens: &[i64]| tokens.iter().filter_map(|t| usize::try_from(*t).ok()).collect();
        let no_speech = ["<|nospeech|>", "<|nocaptions|>"].iter().find_map(|t| tokens.find(t));
        Ok(Self {
            eos_token: generation.eos_token_id,
            no_speech: no_speech.and_then(|t| usize::try_from(t).ok()),
            prompts: manifest.languages.iter().map(language).collect::<Result<_, ManifestError>>()?,
            no_timestamps: generation.no_timestamps_token_id,
            timestamp_begin: generation.no_timestamps_token_id + 1,
            max_new_tokens: generation
                .max_length
                .unwrap_or(MAX_LENGTH)
                .saturating_sub(PROMPT)
                .clamp(1, MAX_NEW_TOKENS),
            max_initial_timestamp_index: generation.max_initial_timestamp_index,
            suppress_tokens: places(&generation.suppress_tokens),
            begin_suppress_tokens: places(&generation.begin_suppress_tokens),
        })
    }

    /// The prompt for a language code; `None` if the model does not know the language.
    pub(super) fn prompt(&self, language: &str) -> Option<Vec<i64>> {
        self.prompts.get(language).cloned()
    }

    /// The time of a timestamp token, in steps of 20 ms; `None` for other tokens.
    pub(super) fn time(&self, token: i64) -> Option<usize> {
        usize::try_from(token).ok()?.checked_sub(self.timestamp_begin)
    }

    /// The log-probabilities of the token that follows `tokens`.
    pub(super) fn scores(&self, logits: &[f32], tokens: &[i64], with_timestamps: bool) -> Vec<f64> {
        let mut scores: Vec<f64> = logits.iter().map(|l| f64::from(*l)).collect();
        let first = if tokens.is_empty() { self.begin_suppress_tokens.as_slice() } else { &[] };
        for token in first.iter().chain(&self.suppress_tokens) {
            suppress(&mut scores, *token..token + 1);
        }
        if with_timestamps {
            self.timestamp_rules(&mut scores, tokens);
        }
        log_softmax(&mut scores);
        scores
    }

    /// Applies the rules for timestamps: a transcript begins with one, they come in pairs, and they do not
    /// decrease. A timestamp is forced if all timestamps together are likelier than every single text token.
    fn timestamp_rules(&self, scores: &mut [f64], tokens: &[i64]) {
        let n = scores.len();
        suppress(scores, self.no_timestamps..self.no_timestamps + 1);
        let is_time = |token: &i64| self.time(*token).is_some();
        let last_was = tokens.last().is_some_and(is_time);
        let one_before_was = tokens.len() < 2 || tokens.iter().rev().nth(1).is_some_and(is_time);
        if last_was {
            if one_before_was {
                suppress(scores, self.timestamp_begin..n);
            } else {
                suppress(scores, 0..usize::try_from(self.eos_token).unwrap_or(0));
            }
        }
        if let Some(last) = tokens.iter().rev().find_map(|t| self.time(*t)) {
            let again = usize::from(!last_was || one_before_was);
            suppress(scores, self.timestamp_begin..self.timestamp_begin + last + again);
        }
        if tokens.is_empty() {
            suppress(scores, 0..self.timestamp_begin);
            if let Some(most) = self.max_initial_timestamp_index {
                suppress(scores, self.timestamp_begin + most + 1..n);
            }
        }
        let mut log_probs = scores.to_vec();
        log_softmax(&mut log_probs);
        let (words, times) = log_probs.split_at(self.timestamp_begin.min(n));
        let highest_word = words.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if times.iter().map(|s| s.exp()).sum::<f64>().ln() > highest_word {
            suppress(scores, 0..self.timestamp_begin);
        }
    }
}

fn suppress(scores: &mut [f64], tokens: std::ops::Range<usize>) {
    let end = tokens.end.min(scores.len());
    if let Some(suppressed) = scores.get_mut(tokens.start.min(end)..end) {
        suppressed.fill(f64::NEG_INFINITY);
    }
}
