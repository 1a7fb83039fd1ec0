//! Decoding: an acoustic model's emissions come in; the tokens they spell come out, by the way its manifest
//! chooses.

use super::{
    Units,
    acoustic::Emissions,
    align::align,
    beam::{self, Weights},
    ctc,
    ngram::LanguageModel,
    units::WORD,
};
use crate::{Manifest, ManifestError};

/// Reads text out of a model's emissions.
#[derive(Debug, Clone)]
pub struct Decoder {
    units: Units,
    /// None: each frame's likeliest unit is believed.
    search: Option<(LanguageModel, Weights)>,
    /// How much later than it is said a unit is heard, seconds.
    latency_s: f64,
    /// Windows heard less surely say nothing.
    least_sure: f32,
}

/// What a model reads in a window: tokens and where there is nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Tokens in order.
    pub(crate) tokens: Vec<Token>,
    /// For each output frame, whether the blank is its likeliest unit.
    pub(crate) blanks: Vec<bool>,
}

/// One unit of text, heard at a time.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    /// Its text, with `▁` where a word begins.
    pub(crate) text: String,
    /// Its first output frame.
    pub(crate) frame: usize,
    /// One past its last.
    pub(crate) end: usize,
}

impl Token {
    /// Whether it has no text of its own.
    pub(crate) fn is_space(&self) -> bool {
        self.text.chars().all(|c| c == WORD)
    }
}

impl Decoder {
    /// Reads a model's units, and its language model where the manifest has a `[decoding]` table.
    pub(crate) fn load(manifest: &Manifest) -> Result<Self, ManifestError> {
        let units = Units::read(manifest)?;
        let Some(decoding) = &manifest.decoding else {
            return Ok(Self { units, search: None, latency_s: 0.0, least_sure: 0.0 });
        };
        let wrong = |what: String| manifest.inconsistent(what);
        if !(1..=1024).contains(&decoding.beam) || !(0.0..1.0).contains(&decoding.latency_s) {
            return Err(wrong(format!(
                "decoding: {decoding:?}, expected a beam of 1 to 1024, a latency below 1 s"
            )));
        }
        let n_texts = units.len() - 1;
        if units.blank() != n_texts || n_texts > usize::from(u8::MAX) || !units.is_space(0) {
            let expected = "expected ▁ first, the blank last and at most 255 others for a language model";
            return Err(wrong(format!("its vocab: {expected}")));
        }
        let model = LanguageModel::read(&manifest.read("language-model")?, n_texts)
            .map_err(|what| wrong(format!("its language model: {what}")))?;
        let weights =
            Weights { width: decoding.beam, language: decoding.language_weight, bonus: decoding.unit_bonus };
        let (latency_s, least_sure) = (decoding.latency_s, decoding.least_sure);
        Ok(Self { units, search: Some((model, weights)), latency_s, least_sure })
    }

    /// How many units a frame of emissions has values for.
    pub(crate) const fn n_units(&self) -> usize {
        self.units.len()
    }

    /// How much later than it is said a unit is heard, seconds.
    pub(crate) const fn latency_s(&self) -> f64 {
        self.latency_s
    }

    /// What a window's emissions say.
    pub fn decode(&self, emissions: &Emissions) -> Reading {
        let frames: Vec<&[f32]> = emissions.frames(self.units.len()).collect();
        let greedy = ctc::greedy(&frames, &self.units);
        if ctc::sureness(&frames, &greedy) < self.least_sure {
            return Reading { tokens: Vec::new(), ..greedy };
        }
        let Some((model, weights)) = &self.search else { return greedy };
        let units = beam::search(frames.iter().copied(), model, *weights);
        match align(&frames, &units) {
            Some(spans) => {
                let token = |(unit, span): (&u8, std::ops::Range<usize>)| Token {
                    text: self.units.text(usize::from(*unit)).to_owned(),
                    frame: span.start,
                    end: span.end,
                };
                Reading { tokens: units.iter().zip(spans).map(token).collect(), ..greedy }
            }
            None => greedy,
        }
    }
}
