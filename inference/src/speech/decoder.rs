//! CTC decoding: turns an acoustic model's emissions into a window's transcript. With a `[decoding]` table in
//! the manifest it uses beam search with a language model, and otherwise greedy decoding.

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
    /// `None` for greedy decoding.
    search: Option<(LanguageModel, Weights)>,
    /// The delay between the time a unit is spoken and the time the model emits it, seconds.
    latency_s: f64,
    /// A window with a lower confidence gets an empty transcript.
    min_confidence: f32,
}

impl CtcDecoder {
    /// Reads a model's units and, if the manifest has a `[decoding]` table, its language model.
    pub(crate) fn load(manifest: &Manifest) -> Result<Self, ManifestError> {
        let units = Units::read(manifest)?;
        let Some(decoding) = &manifest.decoding else {
            return Ok(Self { units, search: None, latency_s: 0.0, min_confidence: 0.0 });
        };
        let wrong = |what: String| manifest.inconsistent(what);
        if !(1..=1024).contains(&decoding.beam_width) || !(0.0..1.0).contains(&decoding.latency_s) {
            return Err(wrong(format!(
                "[decoding] has a beam_width of {} and a latency_s of {}: \
                 expected 1 to 1024, and 0 to less than 1",
                decoding.beam_width, decoding.latency_s
            )));
        }
        let n_texts = units.len() - 1;
        if units.blank() != n_texts || n_texts > usize::from(u8::MAX) || !units.is_space(0) {
            return Err(wrong(
                "the model's vocab does not fit the manifest's [decoding] table: expected ▁ as the first \
                 unit, the blank as the last one, and at most 255 units before the blank"
                    .to_owned(),
            ));
        }
        let model = LanguageModel::read(&manifest.read("language-model")?, n_texts)
            .map_err(|what| wrong(format!("the language model's file is not valid: {what}")))?;
        let weights = Weights {
            beam_width: decoding.beam_width,
            lm_weight: decoding.lm_weight,
            insertion_bonus: decoding.insertion_bonus,
        };
        let (latency_s, min_confidence) = (decoding.latency_s, decoding.min_confidence);
        Ok(Self { units, search: Some((model, weights)), latency_s, min_confidence })
    }

    /// The number of units, which is the number of values in one frame of emissions.
    pub(crate) const fn n_units(&self) -> usize {
        self.units.len()
    }

    /// The delay between the time a unit is spoken and the time the model emits it, seconds.
    pub(crate) const fn latency_s(&self) -> f64 {
        self.latency_s
    }

    /// Decodes the emissions of one window into its transcript.
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
