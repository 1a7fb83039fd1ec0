//! Term spotting: a CTC model's frames and the units of a term come in; how much less likely the term is than what the model
//! finds likeliest goes out, and whether it is heard.

use std::ops::Range;

use super::align::highest;
use crate::cast::{count, narrow};

/// A term whose units have a lower mean probability in their frames is not heard.
const MIN_PROBABILITY: f32 = 0.45;
/// The greatest loss of a term that is heard, nats for each of its units. `speech.measure.keyterms` measures these numbers.
const MAX_LOSS: f32 = 3.2;
/// The same in a window whose confidence is below [`GOOD_CONFIDENCE`]: noise is often like a term.
const MAX_LOSS_WHEN_LOW: f32 = 2.0;
const GOOD_CONFIDENCE: f32 = 0.85;
/// The loss of a whole term must be so much less, nats, because a short term is more often like another word.
const MARGIN: f32 = 5.0;

/// Whether a term is heard in the frames that the units of a text are aligned to: `spans` are those of the term's units.
/// `confidence` is that of the window.
pub(crate) fn is_heard(frames: &[&[f32]], units: &[u8], spans: &[Range<usize>], confidence: f32) -> bool {
    let (Some(first), Some(last)) = (spans.first(), spans.last()) else { return false };
    let n_units = narrow(count(units.len()));
    let letters = units.iter().zip(spans);
    let sum: f32 = letters.map(|(unit, span)| highest(frames, span.clone(), *unit).exp()).sum();
    let max_loss = if confidence < GOOD_CONFIDENCE { MAX_LOSS_WHEN_LOW } else { MAX_LOSS };
    sum / n_units >= MIN_PROBABILITY
        && loss(&frames[first.start..last.end], units) <= max_loss - MARGIN / n_units
}

/// The loss of the best place of a term among frames, nats for each of its units: by how much the log-probability of the
/// units, along the likeliest path from any frame to any later one, is below that of the likeliest units of these frames.
/// Each frame has the log-probability of every unit and, last, of the blank. Infinite for a term that is longer than the
/// frames.
pub(crate) fn loss(frames: &[&[f32]], units: &[u8]) -> f32 {
    const NO: f32 = f32::NEG_INFINITY;
    let n_states = (2 * units.len()).saturating_sub(1); // a unit, or the blank behind it
    let mut paths = vec![NO; n_states];
    let mut best = NO;
    for frame in frames {
        let likeliest = frame.iter().copied().fold(NO, f32::max);
        let Some((blank, log_probs)) = frame.split_last() else { continue };
        for state in (0..n_states).rev() {
            let nth = state / 2;
            let is_unit = state % 2 == 0;
            let log_prob = if is_unit { log_probs.get(usize::from(units[nth])) } else { Some(blank) };
            let before = |n: usize| state.checked_sub(n).map_or(NO, |state| paths[state]);
            let from_start = if state == 0 { 0.0 } else { NO };
            let is_other = is_unit && nth > 0 && units[nth] != units[nth - 1];
            let skipped = if is_other { before(2) } else { NO };
            let from = paths[state].max(before(1)).max(skipped).max(from_start);
            paths[state] = from + log_prob.copied().unwrap_or(NO) - likeliest;
        }
        best = best.max(paths.last().copied().unwrap_or(NO));
    }
    -best / narrow(count(units.len().max(1)))
}

#[cfg(test)]
mod tests {
    /// Frames in which these units are certain but for a rest; 2 is the blank.
    fn frames(likeliest: &[usize]) -> Vec<Vec<f32>> {
        let frame = |unit: &usize| {
            let mut frame = vec![-3.0; 3];
            frame[*unit] = 0.0;
            frame
        };
        likeliest.iter().map(frame).collect()
    }

    fn loss(likeliest: &[usize], units: &[u8]) -> f32 {
        super::loss(&frames(likeliest).iter().map(Vec::as_slice).collect::<Vec<_>>(), units)
    }

    #[test]
    fn a_term_that_is_said_anywhere_has_no_loss() {
        for (said, term) in [
            (&[2, 0, 0, 1, 2][..], &[0, 1][..]),
            (&[1, 2, 0, 2, 1, 1], &[0, 1]),
            (&[0, 2, 0], &[0, 0]),
            (&[0, 1], &[1]),
        ] {
            assert!(loss(said, term).abs() < 1e-6, "{said:?} {term:?}");
        }
    }

    #[test]
    fn what_is_said_instead_is_lost() {
        assert!((loss(&[0, 0], &[0, 1]) - 1.5).abs() < 1e-6, "one unit of two");
        assert!((loss(&[0, 0, 0], &[0, 0]) - 1.5).abs() < 1e-6, "no blank between");
        assert!(loss(&[0], &[0, 1]).is_infinite());
    }

    /// Whether a term of so many units is heard, one of which has this log-probability and the others are certain.
    fn is_heard(n_units: u8, log_prob: f32, confidence: f32) -> bool {
        let units: Vec<u8> = (0..n_units).collect();
        let said = units.iter().map(|unit| usize::from(*unit));
        let mut frames: Vec<Vec<f32>> = said
            .map(|unit| (0..=n_units.into()).map(|n| if n == unit { 0.0 } else { -9.0 }).collect())
            .collect();
        frames[1].fill(log_prob);
        frames[1][usize::from(n_units)] = 0.0;
        let frames: Vec<&[f32]> = frames.iter().map(Vec::as_slice).collect();
        let spans: Vec<_> = (0..units.len()).map(|n| n..n + 1).collect();
        super::is_heard(&frames, &units, &spans, confidence)
    }

    #[test]
    fn a_term_must_be_likelier_if_it_is_short_or_the_window_is_unclear() {
        assert!(is_heard(8, -8.0, 0.9) && is_heard(8, -8.0, 0.8));
        assert!(is_heard(4, -7.0, 0.9) && !is_heard(4, -7.0, 0.8));
        assert!(!is_heard(3, -7.0, 0.9) && !is_heard(3, -7.0, 0.8));
        assert!(is_heard(3, -0.5, 0.9) && is_heard(3, -0.5, 0.8));
    }
}
