//! CTC prefix beam search with a language model: frames' log-probabilities come in; the units of the text
//! with the highest combined score come out.
//!
//! After Hannun et al., "First-Pass Large Vocabulary Continuous Speech Recognition using Bi-Directional
//! Recurrent DNNs", 2014: the alignments of one text are summed, apart for those that end in a blank. The
//! reference is `training/speech/beam.py`.

use std::collections::HashMap;

use super::ngram::{LanguageModel, State};

/// Units less likely than this at a frame, as a natural logarithm, are not tried there.
const MIN_LOG_PROB: f32 = -7.0;
/// No frame yet.
const NEVER: usize = usize::MAX;

/// The search's width and the weights of its scores.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weights {
    /// Texts kept from frame to frame.
    pub(crate) beam_width: usize,
    /// Of the language model's log-probability.
    pub(crate) lm_weight: f64,
    /// Added for each unit, against the language model's bias to short texts.
    pub(crate) insertion_bonus: f64,
}

/// A text being considered.
#[derive(Debug, Clone, Copy)]
struct Hypothesis {
    /// Its last unit's place among the prefixes.
    prefix: usize,
    /// Log-probability of all its alignments that end in a blank.
    by_blank: f64,
    /// And of those that end in its last unit.
    by_unit: f64,
    /// The language model's state, and its weighted score so far with the bonuses.
    state: State,
    text: f64,
}

impl Hypothesis {
    fn score(&self) -> f64 {
        plus(self.by_blank, self.by_unit) + self.text
    }
}

/// Every prefix that was considered, as a tree.
struct Prefixes {
    /// Parent and last unit; the first is the empty text.
    nodes: Vec<(usize, Option<u8>)>,
    children: HashMap<(usize, u8), usize>,
    /// The last frame that reached each, and its place among that frame's hypotheses.
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

/// The best text's units. `log_probs`: frames of one value for each unit and, last, the blank's.
pub(crate) fn search<'a>(
    frames: impl Iterator<Item = &'a [f32]>,
    model: &LanguageModel,
    weights: Weights,
) -> Vec<u8> {
    let mut prefixes = Prefixes::new();
    let start =
        Hypothesis { prefix: 0, by_blank: 0.0, by_unit: f64::NEG_INFINITY, state: State::START, text: 0.0 };
    let (mut beams, mut ahead) = (vec![start], Vec::new());
    for (t, frame) in frames.enumerate() {
        let Some((blank, units)) = frame.split_last() else { continue };
        for beam in &beams {
            extend(beam, f64::from(*blank), units, &mut prefixes, model, weights, |prefixes, next| {
                merge(t, prefixes, &mut ahead, next);
            });
        }
        if ahead.len() > weights.beam_width {
            ahead.select_nth_unstable_by(weights.beam_width - 1, |a, b| b.score().total_cmp(&a.score()));
            ahead.truncate(weights.beam_width);
        }
        std::mem::swap(&mut beams, &mut ahead);
        ahead.clear();
    }
    let at_end = |beam: &Hypothesis| match prefixes.nodes[beam.prefix].1 {
        None | Some(0) => beam.score(),
        Some(_) => beam.score() + weights.lm_weight * f64::from(model.step(beam.state, 0).0),
    };
    let best = beams.iter().max_by(|a, b| at_end(a).total_cmp(&at_end(b)));
    best.map_or_else(Vec::new, |beam| prefixes.units(beam.prefix))
}

/// What a text may be after one more frame.
fn extend(
    beam: &Hypothesis,
    blank: f64,
    units: &[f32],
    prefixes: &mut Prefixes,
    model: &LanguageModel,
    weights: Weights,
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
        let text = beam.text + weights.lm_weight * f64::from(likely) + weights.insertion_bonus;
        let prefix = prefixes.child(beam.prefix, unit);
        reach(prefixes, Hypothesis { prefix, by_blank: NO, by_unit: from + log_prob, state, text });
    }
}

/// Adds to a text's alignments at a frame, whichever way it was reached.
fn merge(t: usize, prefixes: &mut Prefixes, ahead: &mut Vec<Hypothesis>, next: Hypothesis) {
    let (frame, place) = prefixes.reached[next.prefix];
    if frame == t {
        let there = &mut ahead[place];
        there.by_blank = plus(there.by_blank, next.by_blank);
        there.by_unit = plus(there.by_unit, next.by_unit);
    } else {
        prefixes.reached[next.prefix] = (t, ahead.len());
        ahead.push(next);
    }
}

/// The logarithm of a sum of two probabilities, from their logarithms.
fn plus(a: f64, b: f64) -> f64 {
    let (high, low) = if a > b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::speech::ngram::tests::tiny;

    const WEIGHTS: Weights = Weights { beam_width: 8, lm_weight: 1.0, insertion_bonus: 0.0 };

    /// Of the space, a letter and the blank.
    fn frames(probabilities: &[[f32; 3]]) -> Vec<Vec<f32>> {
        probabilities.iter().map(|p| p.iter().map(|p| p.max(1e-9).ln()).collect()).collect()
    }

    fn search(probabilities: &[[f32; 3]], model: &LanguageModel, weights: Weights) -> Vec<u8> {
        super::search(frames(probabilities).iter().map(Vec::as_slice), model, weights)
    }

    #[test]
    fn a_text_counts_for_all_its_alignments() {
        let indifferent = LanguageModel::read(&tiny(0.0, 0.0, 0.0, 0.0), 2).unwrap();
        // The likeliest path is two blanks, 0.36; but three others spell the letter, 0.64.
        assert_eq!(search(&[[0.0, 0.4, 0.6], [0.0, 0.4, 0.6]], &indifferent, WEIGHTS), [1]);
        assert_eq!(search(&[[0.0, 0.9, 0.1], [0.0, 0.9, 0.1]], &indifferent, WEIGHTS), [1]);
        assert_eq!(
            search(&[[0.0, 0.9, 0.1], [0.0, 0.1, 0.9], [0.0, 0.9, 0.1]], &indifferent, WEIGHTS),
            [1, 1]
        );
        assert_eq!(search(&[], &indifferent, WEIGHTS), [0; 0]);
    }

    #[test]
    fn the_language_decides_where_the_sound_does_not() {
        let unsure = [[0.0, 1.0, 0.0], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0]];
        let parting = LanguageModel::read(&tiny(-1.0, -1.0, -0.1, -3.0), 2).unwrap();
        assert_eq!(search(&unsure, &parting, WEIGHTS), [1, 0, 1]);
        let joining = LanguageModel::read(&tiny(-1.0, -1.0, -4.0, 0.0), 2).unwrap();
        assert_eq!(search(&unsure, &joining, WEIGHTS), [1, 1]);
        let paid = Weights { insertion_bonus: 10.0, ..WEIGHTS };
        assert_eq!(search(&unsure, &joining, paid), [1, 0, 1]);
    }
}
