//! The tables of a manifest that say how a model's text is decoded.

use serde::{Deserialize, Deserializer};

/// CTC beam search with the file of role `language-model`: the manifest's `[decoding]`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decoding {
    /// Hypotheses retained from frame to frame.
    #[serde(alias = "beam")]
    pub beam_width: usize,
    /// Weight of the language model's log-probability; the acoustic model's is 1.
    #[serde(alias = "language_weight")]
    pub lm_weight: f64,
    /// Added to the score for each unit of text.
    #[serde(alias = "unit_bonus")]
    pub insertion_bonus: f64,
    /// How much later than it is said a unit is emitted, seconds.
    pub latency_s: f64,
    /// Windows of a lower confidence, 0 to 1, are noise: their transcript is empty.
    #[serde(default, alias = "least_sure")]
    pub min_confidence: f32,
}

/// How words get their times from a CTC model beside the one that transcribes, and what counts as no speech: the
/// manifest's `[alignment]`. The files are those of roles `aligner-model`, `aligner-vocab` and `aligner-config`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alignment {
    /// How much later than it is said a unit is emitted, seconds.
    pub latency_s: f64,
    /// Windows in which the CTC model's confidence, 0 to 1, is lower are noise: their transcript is empty.
    pub min_confidence: f32,
}

/// How a sequence-to-sequence model generates text: the manifest's `[generation]`. Keys are those of
/// transformers' `GenerationConfig`; aliases are the keys of manifests that earlier versions wrote.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Generation {
    /// Sequences considered at a time.
    #[serde(alias = "beam")]
    pub num_beams: usize,
    /// Exponent of the length that a sequence's log-probability is divided by.
    pub length_penalty: f64,
    /// No n-gram of this many tokens occurs twice; 0 allows all.
    #[serde(alias = "no_repeat_ngram")]
    pub no_repeat_ngram_size: usize,
    /// Tokens generated at most.
    #[serde(alias = "max_tokens")]
    pub max_new_tokens: usize,
    /// Tokens of a source at most; a longer text is translated in halves.
    #[serde(alias = "max_source")]
    pub max_source_length: usize,
    /// The token that every sequence begins with.
    #[serde(alias = "decoder_start")]
    pub decoder_start_token_id: TokenId,
    /// The token that ends a sequence.
    #[serde(alias = "end")]
    pub eos_token_id: TokenId,
    /// The token that fills a batch up.
    #[serde(alias = "pad")]
    pub pad_token_id: TokenId,
    /// Tokens that are never generated.
    #[serde(alias = "never")]
    pub suppress_tokens: Vec<TokenId>,
    /// The token forced where `max_new_tokens` is reached; `true` stands for `eos_token_id`.
    #[serde(alias = "forced_end", deserialize_with = "forced")]
    pub forced_eos_token_id: Option<ForcedEos>,
    /// Whether probabilities are made to sum to one again once tokens are suppressed.
    #[serde(alias = "renormalise")]
    pub renormalize_logits: bool,
    /// Windows whose tokens have a lower mean log-probability are no speech of the model's language: their
    /// transcript is empty. Used by Moonshine.
    pub logprob_threshold: Option<f64>,
}

/// A token of the model's tokenizer: its id, or its text such as `</s>`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum TokenId {
    /// Its id.
    Id(i64),
    /// Its text.
    Text(String),
}

/// The token that a sequence of the greatest length ends with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ForcedEos {
    /// `eos_token_id`.
    Eos,
    /// Another one.
    Token(TokenId),
}

/// `false` forces nothing, `true` the end of the sequence, a token itself.
fn forced<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ForcedEos>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Value {
        Flag(bool),
        Token(TokenId),
    }
    Ok(match Value::deserialize(deserializer)? {
        Value::Flag(false) => None,
        Value::Flag(true) => Some(ForcedEos::Eos),
        Value::Token(token) => Some(ForcedEos::Token(token)),
    })
}

impl Default for Generation {
    fn default() -> Self {
        let token = |text: &str| TokenId::Text(text.to_owned());
        Self {
            num_beams: 4,
            length_penalty: 1.0,
            no_repeat_ngram_size: 0,
            max_new_tokens: 200,
            max_source_length: 200,
            decoder_start_token_id: token("</s>"),
            eos_token_id: token("</s>"),
            pad_token_id: token("<pad>"),
            suppress_tokens: Vec::new(),
            forced_eos_token_id: None,
            renormalize_logits: false,
            logprob_threshold: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_ids_or_texts() {
        let generation: Generation = toml::from_str(
            "decoder_start_token_id = 2\nsuppress_tokens = ['<pad>', 7]\nforced_eos_token_id = 2",
        )
        .unwrap();
        assert_eq!(generation.decoder_start_token_id, TokenId::Id(2));
        assert_eq!(generation.suppress_tokens, [TokenId::Text("<pad>".to_owned()), TokenId::Id(7)]);
        assert_eq!(generation.forced_eos_token_id, Some(ForcedEos::Token(TokenId::Id(2))));
        assert!(toml::from_str::<Generation>("beams = 4").is_err());
    }

    #[test]
    fn tables_of_earlier_versions_are_read() {
        let generation: Generation = toml::from_str(
            "beam = 3\nno_repeat_ngram = 2\nmax_tokens = 50\nmax_source = 60\ndecoder_start = '<s>'\n\
             end = '.'\npad = '_'\nnever = ['x']\nforced_end = true\nrenormalise = true",
        )
        .unwrap();
        assert_eq!((generation.num_beams, generation.no_repeat_ngram_size), (3, 2));
        assert_eq!((generation.max_new_tokens, generation.max_source_length), (50, 60));
        assert_eq!(generation.eos_token_id, TokenId::Text(".".to_owned()));
        assert_eq!(generation.forced_eos_token_id, Some(ForcedEos::Eos));
        assert!(generation.renormalize_logits && generation.suppress_tokens.len() == 1);
        let unforced: Generation = toml::from_str("forced_end = false").unwrap();
        assert_eq!(unforced.forced_eos_token_id, None);
        let decoding: Decoding = toml::from_str(
            "beam = 24\nlanguage_weight = 0.5\nunit_bonus = 0.8\nlatency_s = 0.04\nleast_sure = 0.3",
        )
        .unwrap();
        assert_eq!(decoding.beam_width, 24);
        assert!(decoding.min_confidence > 0.29);
    }
}
