//! The tables of a manifest with settings of decoding: `[decoding]`, `[confidence]`, `[alignment]` and `[generation]`.

use serde::Deserialize;

/// The manifest's `[decoding]` table: settings of CTC beam search with a language model, which is the model's
/// file with the role `language-model`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decoding {
    /// The number of hypotheses that are kept from one frame to the next.
    #[serde(alias = "beam")]
    pub beam_width: usize,
    /// The weight of the language model's log-probability. The weight of the acoustic model is 1.
    #[serde(alias = "language_weight")]
    pub lm_weight: f64,
    /// A value that is added to the score for each unit of text.
    #[serde(alias = "unit_bonus")]
    pub insertion_bonus: f64,
    /// The delay between the time a unit is spoken and the time the model emits it, seconds.
    pub latency_s: f64,
    /// The lowest confidence of a window, 0 to 1. A window with a lower confidence counts as noise and gets
    /// an empty transcript.
    #[serde(default, alias = "least_sure")]
    pub min_confidence: f32,
}

/// The manifest's `[confidence]` table: how likely a transcript or a translation is right, and what is done where it is
/// not.
///
/// The probability is that of logistic regression: the logistic function of
/// `intercept + acoustic * a + language * l`. Of a CTC model, `a` is the mean probability that it gives the letters, and
/// `l` the mean log-probability (natural logarithm) that the language model gives letters and spaces. Of Moonshine with
/// an aligner, `a` is the mean log-probability that the aligner gives the letters, and `l` that of Moonshine's tokens. Of a
/// translator, `a` is the mean log-probability of the source's tokens given the translation (0 without a `reverse_weight`), and
/// `l` that of the translation's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confidence {
    /// The constant term.
    pub intercept: f64,
    /// The weight of `a`, not negative.
    #[serde(default)]
    pub acoustic: f64,
    /// The weight of `l`, not negative.
    #[serde(default)]
    pub language: f64,
    /// A text with a lower probability is probably wrong: a warning says so. Without it, none is, unless `doubt` says so.
    #[serde(default)]
    pub low: f64,
    /// The weight of the language model when a window with a low probability is decoded again; the bonus for each unit
    /// is lowered in the same proportion. Without it such a window is not decoded again. Only CTC models use it.
    #[serde(default)]
    pub lm_weight: Option<f64>,
    /// How likely a word is right. Without it words have no confidence.
    #[serde(default)]
    pub word: Option<Weights>,
    /// How likely a text is in the model's language and mostly right, fitted to what it writes of other languages and of music.
    /// Below one half, the text is probably wrong.
    #[serde(default)]
    pub doubt: Option<Weights>,
}

/// The manifest's tables `[confidence.word]` and `[confidence.doubt]`: the same for a word, which is right if all of its letters
/// are, with the means over the letters of the word and the space before it; and for a doubt.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// The constant term.
    pub intercept: f64,
    /// The weight of `a`, not negative.
    #[serde(default)]
    pub acoustic: f64,
    /// The weight of `l`, not negative.
    #[serde(default)]
    pub language: f64,
}

impl Weights {
    /// The probability, given `a` and `l`.
    pub(crate) fn probability(&self, acoustic: f64, language: f64) -> f64 {
        logistic(self.intercept + self.acoustic * acoustic + self.language * language)
    }
}

fn logistic(sum: f64) -> f64 {
    1.0 / (1.0 + (-sum).exp())
}

impl Confidence {
    /// These weights with a `low` of one half, for tests.
    #[cfg(test)]
    pub(crate) const fn of_weights(intercept: f64, acoustic: f64, language: f64) -> Self {
        Self { intercept, acoustic, language, low: 0.5, lm_weight: None, word: None, doubt: None }
    }

    /// The probability that a text is right, given its `a` and `l`.
    pub(crate) fn probability(&self, acoustic: f64, language: f64) -> f64 {
        logistic(self.log_odds(acoustic, language))
    }

    /// The logarithm of the odds that a text is right, given its `a` and `l`.
    pub(crate) fn log_odds(&self, acoustic: f64, language: f64) -> f64 {
        self.intercept + self.acoustic * acoustic + self.language * language
    }

    /// Whether a text is probably wrong, given its `a` and `l`.
    pub(crate) fn is_low(&self, acoustic: f64, language: f64) -> bool {
        match self.doubt {
            Some(doubt) => doubt.probability(acoustic, language) < 0.5,
            None => self.probability(acoustic, language) < self.low,
        }
    }

    /// What is wrong with the settings, if anything is.
    pub(crate) fn fault(&self) -> Option<String> {
        let is_weight = |weight: f64| (0.0..=1000.0).contains(&weight);
        let is_valid = self.intercept.is_finite()
            && [self.acoustic, self.language, self.lm_weight.unwrap_or(0.0)].into_iter().all(is_weight)
            && [self.word, self.doubt]
                .into_iter()
                .flatten()
                .all(|of| of.intercept.is_finite() && [of.acoustic, of.language].into_iter().all(is_weight))
            && (0.0..=1.0).contains(&self.low);
        (!is_valid)
            .then(|| format!("[confidence] has {self:?}: expected weights of 0 to 1000, and low from 0 to 1"))
    }
}

/// The manifest's `[alignment]` table: how a CTC model beside the one that writes the text gives words their times,
/// and says whether there is speech at all.
///
/// The files of the CTC model have the roles `aligner-model`, `aligner-vocab` and `aligner-config`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alignment {
    /// How much later than it is said the CTC model emits a unit, in seconds.
    pub latency_s: f64,
    /// A window in which the CTC model's confidence (0 to 1) is lower is taken for noise: its transcript is empty.
    pub min_confidence: f32,
}

/// The manifest's `[generation]` table: how a sequence-to-sequence model generates text.
///
/// The keys are those of `GenerationConfig` in the transformers library. The aliases are keys that earlier
/// versions of Akhar wrote into manifests.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Generation {
    /// The number of beams in beam search.
    #[serde(alias = "beam")]
    pub num_beams: usize,
    /// A sequence's log-probability is divided by its length to the power of this exponent.
    pub length_penalty: f64,
    /// Of the sequences that beam search finds for a text, the translator takes the one with the highest sum of its score
    /// and this times the mean log-probability of the text given the sequence. 0 takes the one with the highest score.
    /// Not one of transformers' keys; for models that translate both ways.
    pub reverse_weight: f64,
    /// An n-gram with this number of tokens is not generated twice. 0 turns the rule off.
    #[serde(alias = "no_repeat_ngram")]
    pub no_repeat_ngram_size: usize,
    /// The largest number of tokens to generate.
    #[serde(alias = "max_tokens")]
    pub max_new_tokens: usize,
    /// The largest number of tokens of a source text. A longer text is translated in halves.
    #[serde(alias = "max_source")]
    pub max_source_length: usize,
    /// The first token of every generated sequence.
    #[serde(alias = "decoder_start")]
    pub decoder_start_token_id: TokenId,
    /// The token that ends a sequence.
    #[serde(alias = "end")]
    pub eos_token_id: TokenId,
    /// The token that pads the shorter sequences of a batch.
    #[serde(alias = "pad")]
    pub pad_token_id: TokenId,
    /// A window whose tokens have a lower mean log-probability is taken for noise or another language: its
    /// transcript is empty. Only the Moonshine layout uses it.
    pub logprob_threshold: Option<f64>,
}

/// A token of the model's tokenizer.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum TokenId {
    /// The token's id.
    Id(i64),
    /// The token's text, such as `</s>`.
    Text(String),
}

impl Default for Generation {
    fn default() -> Self {
        let token = |text: &str| TokenId::Text(text.to_owned());
        Self {
            num_beams: 4,
            length_penalty: 1.0,
            reverse_weight: 0.0,
            no_repeat_ngram_size: 0,
            max_new_tokens: 200,
            max_source_length: 200,
            decoder_start_token_id: token("</s>"),
            eos_token_id: token("</s>"),
            pad_token_id: token("<pad>"),
            logprob_threshold: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_can_be_an_id_or_a_text() {
        let generation: Generation =
            toml::from_str("decoder_start_token_id = 2\npad_token_id = '<s>'").unwrap();
        assert_eq!(generation.decoder_start_token_id, TokenId::Id(2));
        assert_eq!(generation.pad_token_id, TokenId::Text("<s>".to_owned()));
        assert!(toml::from_str::<Generation>("beams = 4").is_err());
    }

    #[test]
    fn keys_of_earlier_versions_are_still_read() {
        let generation: Generation = toml::from_str(
            "beam = 3\nno_repeat_ngram = 2\nmax_tokens = 50\nmax_source = 60\ndecoder_start = '<s>'\n\
             end = '.'\npad = '_'",
        )
        .unwrap();
        assert_eq!((generation.num_beams, generation.no_repeat_ngram_size), (3, 2));
        assert_eq!((generation.max_new_tokens, generation.max_source_length), (50, 60));
        assert_eq!(generation.eos_token_id, TokenId::Text(".".to_owned()));
        let decoding: Decoding = toml::from_str(
            "beam = 24\nlanguage_weight = 0.5\nunit_bonus = 0.8\nlatency_s = 0.04\nleast_sure = 0.3",
        )
        .unwrap();
        assert_eq!(decoding.beam_width, 24);
        assert!(decoding.min_confidence > 0.29);
    }
}
