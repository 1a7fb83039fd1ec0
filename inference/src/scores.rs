//! Log-softmax and argmax over the scores of the next token.

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
    logit.map_or(f64::NEG_INFINITY, |logit| {
        f64::from(logit) - log_sum_exp(logits.iter().map(|logit| f64::from(*logit)))
    })
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
            assert!((log_prob(&logits, token) - expected).abs() < 1e-9, "{token}");
        }
        assert!(log_prob(&logits, 4) < -1e300 && log_prob(&logits, -1) < -1e300);
    }

    #[test]
    fn highest_returns_the_first_of_equal_scores() {
        assert_eq!(highest(&[0.5_f32, 2.0, 2.0]), 1);
        assert_eq!(highest::<f64>(&[]), 0);
    }
}
