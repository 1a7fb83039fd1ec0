//! Log-softmax and argmax over the scores of the next token.

use std::{
    array,
    f32::consts::{LN_2, LOG2_E},
};

/// How many numbers are computed at once.
const LANES: usize = 8;

/// Turns scores into logarithms of probabilities that sum to 1. If all scores are minus infinity, they stay
/// unchanged.
pub(crate) fn log_softmax(scores: &mut [f64]) {
    let total = log_sum_exp(scores.iter().copied());
    if total == f64::NEG_INFINITY {
        return;
    }
    for score in scores {
        *score -= total;
    }
}

/// The log-probability of a token by the logits of a vocabulary; minus infinity if the vocabulary lacks it.
pub(crate) fn log_prob(logits: &[f32], token: i64) -> f64 {
    let logit = usize::try_from(token).ok().and_then(|token| logits.get(token)).copied();
    logit.map_or(f64::NEG_INFINITY, |logit| f64::from(logit) - log_total(logits))
}

/// The logarithm of the sum of the exponentials, with an error below 1e-5; minus infinity if all logits are. The search needs
/// it of a whole vocabulary for each beam and token, so it is written for vector instructions.
pub(crate) fn log_total(logits: &[f32]) -> f64 {
    let (lanes, rest) = logits.as_chunks::<LANES>();
    let mut highest = [f32::NEG_INFINITY; LANES];
    for lane in lanes {
        highest = array::from_fn(|nth| if lane[nth] > highest[nth] { lane[nth] } else { highest[nth] });
    }
    let highest = highest.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max);
    if highest == f32::NEG_INFINITY {
        return f64::NEG_INFINITY;
    }
    let mut totals = [0.0; LANES];
    for lane in lanes {
        totals = array::from_fn(|nth| totals[nth] + exp(lane[nth] - highest));
    }
    let total: f32 = totals.into_iter().chain(rest.iter().map(|logit| exp(logit - highest))).sum();
    f64::from(highest) + f64::from(total).ln()
}

/// The exponential of a number that is at most 0, with a relative error below 1e-5, without branches.
fn exp(x: f32) -> f32 {
    // Added to a number, it leaves the nearest integer in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    let x = x.max(-87.0) * LOG2_E;
    let whole = x + ROUND;
    let part = (x - (whole - ROUND)) * LN_2;
    // The first terms of the exponential's series.
    let power =
        1.0 + part * (1.0 + part * (1.0 / 2.0 + part * (1.0 / 6.0 + part * (1.0 / 24.0 + part / 120.0))));
    f32::from_bits(power.to_bits().wrapping_add(whole.to_bits() << 23))
}

/// The logarithm of the sum of the exponentials; minus infinity if all scores are.
fn log_sum_exp(scores: impl Iterator<Item = f64> + Clone) -> f64 {
    let highest = scores.clone().fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return highest;
    }
    highest + scores.map(|score| (score - highest).exp()).sum::<f64>().ln()
}

/// The index of the highest score, the first one if several are equal; 0 if there are no scores.
pub(crate) fn highest<S: Copy + Into<f64>>(scores: &[S]) -> usize {
    let best = scores.iter().enumerate().rev().max_by(|a, b| (*a.1).into().total_cmp(&(*b.1).into()));
    best.map_or(0, |(index, _)| index)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    #[test]
    fn probabilities_sum_to_one() {
        let mut scores = [1000.0, 1000.0, f64::NEG_INFINITY];
        log_softmax(&mut scores);
        assert!((scores[0] - 0.5_f64.ln()).abs() < 1e-12 && scores[2] < -1e300);
        let mut suppressed = [f64::NEG_INFINITY; 2];
        log_softmax(&mut suppressed);
        assert!(suppressed.iter().all(|s| *s < -1e300));
    }

    #[test]
    fn the_log_probability_of_a_token_is_that_of_the_vocabulary() {
        let logits = [1.5_f32, -2.0, 400.0, 399.0];
        let mut all = logits.map(f64::from);
        log_softmax(&mut all);
        for (token, expected) in (0..).zip(all) {
            assert!((log_prob(&logits, token) - expected).abs() < 1e-5, "{token}");
        }
        assert!(log_prob(&logits, 4) < -1e300 && log_prob(&logits, -1) < -1e300);
    }

    proptest! {
        #[test]
        fn the_total_of_logits_is_that_of_exact_arithmetic(logits in vec(-100.0_f32..100.0, 1..40)) {
            let exact = log_sum_exp(logits.iter().map(|logit| f64::from(*logit)));
            prop_assert!((log_total(&logits) - exact).abs() < 1e-5, "{} {exact}", log_total(&logits));
        }
    }

    #[test]
    fn the_total_leaves_out_suppressed_logits() {
        assert!((log_total(&[f32::NEG_INFINITY, 3.0]) - 3.0).abs() < 1e-5);
        assert!(log_total(&[f32::NEG_INFINITY; 9]) < -1e300 && log_total(&[]) < -1e300);
    }

    #[test]
    fn highest_returns_the_first_of_equal_scores() {
        assert_eq!(highest(&[0.5_f32, 2.0, 2.0]), 1);
        assert_eq!(highest::<f64>(&[]), 0);
    }
}
