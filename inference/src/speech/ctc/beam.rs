//! CTC prefix beam search with a language model: finds the text with the highest combined score.
//!
//! The algorithm is that of Hannun et al., "First-Pass Large Vocabulary Continuous Speech Recognition using
//! Bi-Directional Recurrent DNNs", 2014. It sums the probabilities of all alignments of a text, and keeps the
//! sum of those that end in a blank apart from the sum of the others. The golden file of the tests is that of a
//! reference implementation in Python.

use std::collections::HashMap;

use super::{
    ngram::{LanguageModel, State},
    units::Units,
};
use crate::key_terms::{KeyTerms, Progress};

/// A unit whose log-probability (natural logarithm) at a frame is below this is not tried at that frame.
const MIN_LOG_PROB: f32 = -7.0;
/// The number of hypotheses in key terms that are kept besides.
const TERMS_WIDTH: usize = 16;
/// Stands for no frame.
const NEVER: usize = usize::MAX;

/// The width of the beam and the weights of the scores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weights {
    /// The number of hypotheses that are kept from one frame to the next.
    pub(crate) beam_width: usize,
    /// The weight of the language model's log-probability.
    pub(crate) lm_weight: f64,
    /// A bonus for each unit, against the language model's bias towards short texts.
    pub(crate) insertion_bonus: f64,
}

/// The terms that are preferred, and the units that they are spelt in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Preferred<'a> {
    pub(crate) terms: &'a KeyTerms,
    pub(crate) units: &'a Units,
    /// The bonus for each letter of a term.
    pub(crate) bonus: f64,
}

impl Preferred<'_> {
    fn step(&self, from: Progress, unit: u8) -> Progress {
        self.terms.step(from, self.units.letters(unit.into()))
    }

    fn bonus(&self, at: Progress) -> f64 {
        self.bonus * f64::from(at.n_letters())
    }
}

/// A hypothesis: one text with its scores.
#[derive(Debug, Clone, Copy)]
struct Hypothesis {
    /// The index of the text in [`Prefixes`].
    prefix: usize,
    /// The log-probability of all alignments that end in a blank.
    by_blank: f64,
    /// The log-probability of all alignments that end in the last unit.
    by_unit: f64,
    /// The language model's state after the text.
    state: State,
    /// How far the text is in a key term.
    term: Progress,
    /// The language model's weighted score of the text, with the bonuses for units.
    text: f64,
}

impl Hypothesis {
    fn score(&self) -> f64 {
        plus(self.by_blank, self.by_unit) + self.text
    }
}

/// A tree of all texts that were considered.
struct Prefixes {
    /// The parent and the last unit of each text. The first node is the empty text.
    nodes: Vec<(usize, Option<u8>)>,
    children: HashMap<(usize, u8), usize>,
    /// For each text, the last frame that reached it, and its index among the hypotheses of that frame.
    reached: Vec<(usize, usize)>,
}

impl Prefixes {
    fn new() -> Self {
        Self { nodes: vec![(0, None)], children: HashMap::new(), reached: vec![(NEVER, 0)] }
    }

    fn child(&mut self, of: usize, unit: u8) -> usize {
        *self.children.entry((of, unit)).or_insert_with(|| {
            self.nodes.push((of, Some(unit)));
            self.reached.push((NEVER, 0));
            self.nodes.len() - 1
        })
    }

    fn units(&self, mut prefix: usize) -> Vec<u8> {
        let mut units = Vec::new();
        while let (parent, Some(unit)) = self.nodes[prefix] {
            units.push(unit);
            prefix = parent;
        }
        units.reverse();
        units
    }
}

/// The units of the best text. Each frame has the log-probability of every unit and, last, of the blank.
pub(crate) fn search<'a>(
    frames: impl Iterator<Item = &'a [f32]>,
    model: &LanguageModel,
    weights: Weights,
    preferred: Option<Preferred<'_>>,
) -> Vec<u8> {
    let mut prefixes = Prefixes::new();
    let start = Hypothesis {
        prefix: 0,
        by_blank: 0.0,
        by_unit: f64::NEG_INFINITY,
        state: State::START,
        term: Progress::START,
        text: 0.0,
    };
    let mut beams = vec![start];
    let mut ahead = Vec::new();
    for (t, frame) in frames.enumerate() {
        let Some((blank, units)) = frame.split_last() else { continue };
        for beam in &beams {
            let reach = |prefixes: &mut Prefixes, next| merge(t, prefixes, &mut ahead, next);
            extend(beam, f64::from(*blank), units, &mut prefixes, (model, weights, preferred), reach);
        }
        prune(&mut ahead, weights.beam_width, preferred);
        std::mem::swap(&mut beams, &mut ahead);
        ahead.clear();
    }
    let at_end = |beam: &Hypothesis| {
        let score = beam.score() + preferred.map_or(0.0, |p| p.bonus(p.terms.end(beam.term)));
        match prefixes.nodes[beam.prefix].1 {
            None | Some(0) => score,
            Some(_) => score + weights.lm_weight * f64::from(model.step(beam.state, 0).0),
        }
    };
    let best = beams.iter().max_by(|a, b| at_end(a).total_cmp(&at_end(b)));
    best.map_or_else(Vec::new, |beam| prefixes.units(beam.prefix))
}

/// Keeps the best hypotheses. Those in key terms have places of their own, so that they displace no other text, which
/// would be missing when they turn out to be none.
fn prune(ahead: &mut Vec<Hypothesis>, width: usize, preferred: Option<Preferred<'_>>) {
    if ahead.len() <= width {
        return;
    }
    ahead.select_nth_unstable_by(width - 1, |a, b| b.score().total_cmp(&a.score()));
    let mut in_terms = Vec::new();
    if let Some(preferred) = preferred {
        in_terms.extend(ahead[width..].iter().filter(|beam| beam.term.n_letters() > 0).copied());
        if in_terms.len() > TERMS_WIDTH {
            let score = |beam: &Hypothesis| beam.score() + preferred.bonus(beam.term);
            in_terms.select_nth_unstable_by(TERMS_WIDTH - 1, |a, b| score(b).total_cmp(&score(a)));
            in_terms.truncate(TERMS_WIDTH);
        }
    }
    ahead.truncate(width);
    ahead.append(&mut in_terms);
}

/// Calls `reach` with every hypothesis that `beam` can become after one more frame.
fn extend(
    beam: &Hypothesis,
    blank: f64,
    units: &[f32],
    prefixes: &mut Prefixes,
    (model, weights, preferred): (&LanguageModel, Weights, Option<Preferred<'_>>),
    mut reach: impl FnMut(&mut Prefixes, Hypothesis),
) {
    const NO: f64 = f64::NEG_INFINITY;
    let both = plus(beam.by_blank, beam.by_unit);
    let last = prefixes.nodes[beam.prefix].1;
    reach(prefixes, Hypothesis { by_blank: both + blank, by_unit: NO, ..*beam });
    for (unit, log_prob) in (0..=u8::MAX).zip(units) {
        if *log_prob <= MIN_LOG_PROB {
            continue;
        }
        let log_prob = f64::from(*log_prob);
        let again = last == Some(unit);
        if again {
            reach(prefixes, Hypothesis { by_blank: NO, by_unit: beam.by_unit + log_prob, ..*beam });
        }
        let from = if again { beam.by_blank } else { both };
        if from == NO {
            continue;
        }
        let (likely, state) = model.step(beam.state, unit);
        let term = preferred.map_or(beam.term, |preferred| preferred.step(beam.term, unit));
        let text = beam.text + weights.lm_weight * f64::from(likely) + weights.insertion_bonus;
        let prefix = prefixes.child(beam.prefix, unit);
        reach(prefixes, Hypothesis { prefix, by_blank: NO, by_unit: from + log_prob, state, term, text });
    }
}

/// Adds a hypothesis to those of frame `t`. If the same text is already among them, their probabilities are
/// summed.
fn merge(t: usize, prefixes: &mut Prefixes, ahead: &mut Vec<Hypothesis>, next: Hypothesis) {
    let (frame, index) = prefixes.reached[next.prefix];
    if frame == t {
        let same = &mut ahead[index];
        same.by_blank = plus(same.by_blank, next.by_blank);
        same.by_unit = plus(same.by_unit, next.by_unit);
    } else {
        prefixes.reached[next.prefix] = (t, ahead.len());
        ahead.push(next);
    }
}

/// The logarithm of the sum of two probabilities that are given as logarithms.
fn plus(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::super::ngram::tests::tiny;
    use super::*;

    const WEIGHTS: Weights = Weights { beam_width: 8, lm_weight: 1.0, insertion_bonus: 0.0 };

    /// Frames from the probabilities of the space, a letter and the blank.
    fn frames(probabilities: &[[f32; 3]]) -> Vec<Vec<f32>> {
        probabilities.iter().map(|p| p.iter().map(|p| p.max(1e-9).ln()).collect()).collect()
    }

    fn search(probabilities: &[[f32; 3]], model: &LanguageModel, weights: Weights) -> Vec<u8> {
        super::search(frames(probabilities).iter().map(Vec::as_slice), model, weights, None)
    }

    #[test]
    fn the_probabilities_of_a_text_s_alignments_are_summed() {
        let neutral = LanguageModel::read(&tiny(0.0, 0.0, 0.0, 0.0), 2).unwrap();
        // The likeliest single path is two blanks (0.36), but the three paths that spell the letter sum to
        // 0.64.
        assert_eq!(search(&[[0.0, 0.4, 0.6], [0.0, 0.4, 0.6]], &neutral, WEIGHTS), [1]);
        assert_eq!(search(&[[0.0, 0.9, 0.1], [0.0, 0.9, 0.1]], &neutral, WEIGHTS), [1]);
        assert_eq!(search(&[[0.0, 0.9, 0.1], [0.0, 0.1, 0.9], [0.0, 0.9, 0.1]], &neutral, WEIGHTS), [1, 1]);
        assert_eq!(search(&[], &neutral, WEIGHTS), [0; 0]);
    }

    #[test]
    fn the_language_model_decides_when_the_acoustic_model_is_undecided() {
        let undecided = [[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0]];
        let likes_spaces = LanguageModel::read(&tiny(-1.0, -1.0, -0.1, -3.0), 2).unwrap();
        assert_eq!(search(&undecided, &likes_spaces, WEIGHTS), [1, 0, 1]);
        let avoids_spaces = LanguageModel::read(&tiny(-1.0, -1.0, -4.0, 0.0), 2).unwrap();
        assert_eq!(search(&undecided, &avoids_spaces, WEIGHTS), [1, 1]);
        let with_bonus = Weights { insertion_bonus: 10.0, ..WEIGHTS };
        assert_eq!(search(&undecided, &avoids_spaces, with_bonus), [1, 0, 1]);
    }
}
