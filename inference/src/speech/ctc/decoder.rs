//! CTC decoding: turns an acoustic model's emissions into a window's transcript. With a `[decoding]` table in
//! the manifest it uses beam search with a language model, and otherwise greedy decoding.

use std::{collections::HashSet, ops::Range};

use super::{
    align::{align, highest},
    beam::{self, Preferred, Weights},
    emissions::Emissions,
    greedy::{self, greedy},
    ngram::{LanguageModel, State},
    spot::is_heard,
    units::Units,
};
use crate::{
    generation::Confidence,
    key_terms::{KeyTerms, Progress},
    manifest::{Manifest, ManifestError},
    speech::words::{Evidence, Token, Transcript},
};

/// The bonus for each letter of a key term. `speech.measure.keyterms` measures it.
const TERM_BONUS: f64 = 2.5;

/// Turns a CTC model's emissions into tokens.
#[derive(Debug, Clone)]
pub struct CtcDecoder {
    units: Units,
    /// `None` for greedy decoding.
    search: Option<Search>,
    /// The delay between the time a unit is spoken and the time the model emits it, seconds.
    latency_s: f64,
    /// A window with a lower confidence gets an empty transcript.
    min_confidence: f32,
}

/// Beam search with a language model.
#[derive(Debug, Clone)]
struct Search {
    model: LanguageModel,
    weights: Weights,
    confidence: Option<Confidence>,
    /// The weights for a window whose text is probably wrong with the others.
    weights_when_low: Option<Weights>,
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
        let lower = |lm_weight: f64| Weights {
            lm_weight,
            insertion_bonus: weights.insertion_bonus * lm_weight / weights.lm_weight,
            ..weights
        };
        let lm_weight = manifest.confidence.and_then(|confidence| confidence.lm_weight);
        if lm_weight.is_some_and(|lower| lower >= weights.lm_weight) {
            return Err(wrong(format!(
                "[confidence] has an lm_weight of {}: expected less than the {} of [decoding]",
                lm_weight.unwrap_or_default(),
                weights.lm_weight
            )));
        }
        let search = Search {
            model,
            weights,
            confidence: manifest.confidence,
            weights_when_low: lm_weight.map(lower),
        };
        Ok(Self {
            units,
            search: Some(search),
            latency_s: decoding.latency_s,
            min_confidence: decoding.min_confidence,
        })
    }

    /// The model's units.
    pub(crate) const fn units(&self) -> &Units {
        &self.units
    }

    /// The number of units, which is the number of values in one frame of emissions.
    pub(crate) const fn n_units(&self) -> usize {
        self.units.len()
    }

    /// The delay between the time a unit is spoken and the time the model emits it, seconds.
    pub(crate) const fn latency_s(&self) -> f64 {
        self.latency_s
    }

    /// The letters that a key term may have, to be preferred.
    pub(crate) fn alphabet(&self) -> HashSet<char> {
        self.search.as_ref().map_or_else(HashSet::new, |_| self.units.alphabet())
    }

    /// Decodes the emissions of one window into its transcript, in which terms are preferred.
    pub fn decode(&self, emissions: &Emissions, terms: &KeyTerms) -> Transcript {
        let frames: Vec<&[f32]> = emissions.frames(self.units.len()).collect();
        let greedy = greedy(&frames, &self.units);
        if greedy::confidence(&frames, &greedy) < self.min_confidence {
            return Transcript { tokens: Vec::new(), ..greedy };
        }
        let Some(search) = &self.search else { return greedy };
        let tokens = self.searched(&frames, terms, search, search.weights);
        let is_low = |tokens: &Vec<Token>| {
            let evidence: Evidence = tokens.iter().map(|token| token.evidence).sum();
            search.confidence.is_some_and(|confidence| evidence.is_low(&confidence))
        };
        // A language model makes fluent text of sounds that nobody recognises. With less of it, the letters stay those
        // that the acoustic model gives.
        let again = search.weights_when_low.filter(|_| tokens.as_ref().is_some_and(is_low));
        let tokens = again.and_then(|weights| self.searched(&frames, terms, search, weights)).or(tokens);
        match tokens {
            Some(tokens) => Transcript { tokens, ..greedy },
            None => greedy,
        }
    }

    /// The units of the best text. One without a key term that is heard is the same as if there were no terms: terms that
    /// are not said change nothing.
    fn best(&self, frames: &[&[f32]], terms: &KeyTerms, search: &Search, weights: Weights) -> Vec<u8> {
        let best = |preferred| beam::search(frames.iter().copied(), &search.model, weights, preferred);
        if !terms.is_empty() {
            let units = best(Some(Preferred { terms, units: &self.units, bonus: TERM_BONUS }));
            let terms = self.terms(terms, &units);
            let spans = align(frames, &units).unwrap_or_default();
            let confidence = greedy::confidence(frames, &greedy(frames, &self.units));
            let is_heard = |term: Range<usize>| {
                let spans = spans.get(term.clone()).unwrap_or_default();
                is_heard(frames, &units[term], spans, confidence)
            };
            if !terms.is_empty() && terms.into_iter().all(is_heard) {
                return units;
            }
        }
        best(None)
    }

    /// The units of each key term in a text.
    fn terms(&self, terms: &KeyTerms, units: &[u8]) -> Vec<Range<usize>> {
        let mut at = Progress::START;
        let mut start = 0;
        let mut found = Vec::new();
        for (n, unit) in units.iter().enumerate() {
            let next = terms.step(at, self.units.letters(usize::from(*unit)));
            if !at.is_in_term() {
                start = n;
            }
            if next.n_kept() > at.n_kept() {
                found.push(start..n);
            }
            at = next;
        }
        if terms.end(at).n_kept() > at.n_kept() {
            found.push(start..units.len());
        }
        found
    }

    /// The tokens of the best text; `None` if it does not fit the frames.
    fn searched(
        &self,
        frames: &[&[f32]],
        terms: &KeyTerms,
        search: &Search,
        weights: Weights,
    ) -> Option<Vec<Token>> {
        let units = self.best(frames, terms, search, weights);
        let spans = align(frames, &units)?;
        let mut state = State::START;
        let token = |(unit, span): (&u8, Range<usize>)| {
            let (language, next) = search.model.step(state, *unit);
            state = next;
            let acoustic = highest(frames, span.clone(), *unit).exp();
            let evidence = if self.units.is_space(usize::from(*unit)) {
                Evidence::space(language.into())
            } else {
                Evidence::letter(acoustic.into(), language.into())
            };
            Token { evidence, ..Token::new(self.units.text(usize::from(*unit)), span.start, span.end) }
        };
        Some(units.iter().zip(spans).map(token).collect())
    }
}
