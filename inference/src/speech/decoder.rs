//! CTC decoding: an acoustic model's emissions come in; a window's transcript comes out, by beam search with
//! a language model where the manifest has a `[decoding]` table, greedily where it has none.

use super::{
    align::align,
    beam::{self, Weights},
    ctc,
    emissions::Emissions,
    ngram::LanguageModel,
    transcript::{Token, Transcript},
    units::Units,
};
use crate::{Manifest, ManifestError};

/// Turns a CTC model's emissions into tokens.
#[derive(Debug, Clone)]
pub struct CtcDecoder {
    units: Units,
    /// None: each frame's likeliest unit is taken.
    search: Option<(LanguageModel, Weights)>,
    /// How much later than it is said a unit is emitted, seconds.
    latency_s: f64,
    /// Windows of a lower confidence have an empty transcript.
    min_confidence: f32,
}

impl CtcDecoder {
    /// Reads a model's units, and its language model where the manifest has a `[decoding]` table.
    pub(crate) fn load(manifest: &Manifest) -> Result<Self, ManifestError> {
        let units = Units::read(manifest)?;
        let Some(decoding) = &manifest.decoding else {
            return Ok(Self { units, search: None, latency_s: 0.0, min_confidence: 0.0 });
        };
        let wrong = |what: String| manifest.inconsistent(what);
        if !(1..=1024).contains(&decoding.beam_width) || !(0.0..1.0).contains(&decoding.latency_s) {
            return Err(wrong(format!(
                "decoding: {decoding:?}, expected a beam_width of 1 to 1024, a latency_s below 1"
            )));
        }
        let n_texts = units.len() - 1;
        if units.blank() != n_texts || n_texts > usize::from(u8::MAX) || !units.is_space(0) {
            let expected = "expected ▁ first, the blank last and at most 255 others for a language model";
            return Err(wrong(format!("its vocab: {expected}")));
        }
        let model = LanguageModel::read(&manifest.read("language-model")?, n_texts)
            .map_err(|what| wrong(format!("its language model: {what}")))?;
        let weights = Weights {
            beam_width: decoding.beam_width,
            lm_weight: decoding.lm_weight,
            insertion_bonus: decoding.insertion_bonus,
        };
        let (latency_s, min_confidence) = (decoding.latency_s, decoding.min_confidence);
        Ok(Self { units, search: Some((model, weights)), latency_s, min_confidence })
    }

    /// How many units a frame of emissions has values for.
    pub(crate) const fn n_units(&self) -> usize {
        self.units.len()
    }

    /// How much later than it is said a unit is emitted, seconds.
    pub(crate) const fn latency_s(&self) -> f64 {
        self.latency_s
    }

    /// The transcript of a window's emissions.
    pub fn decode(&self, emissions: &Emissions) -> Transcript {
        let frames: Vec<&[f32]> = emissions.frames(self.units.len()).collect();
        let greedy = ctc::greedy(&frames, &self.units);
        if ctc::confidence(&frames, &greedy) < self.min_confidence {
            return Transcript { tokens: Vec::new(), ..greedy };
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
                Transcript { tokens: units.iter().zip(spans).map(token).collect(), ..greedy }
            }
            None => greedy,
        }
    }
}
