//! Scores of the next token: logits come in; log-probabilities and the best of them come out.

/// Makes logarithms of probabilities that sum to one. Where all are minus infinity, they stay so.
pub(crate) fn log_softmax(scores: &mut [f64]) {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if highest == f64::NEG_INFINITY {
        return;
    }
    let sum: f64 = scores.iter().map(|s| (s - highest).exp()).sum();
    let total = highest + sum.ln();
    for score in scores {
        *score -= total;
    }
}

/// The place of the highest, the first of equals; 0 where there are none.
pub(crate) fn highest<S: Copy + Into<f64>>(scores: &[S]) -> usize {
    let best = scores.iter().enumerate().rev().max_by(|a, b| (*a.1).into().total_cmp(&(*b.1).into()));
    best.map_or(0, |(place, _)| place)
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
    fn the_first_of_equals_is_highest() {
        assert_eq!(highest(&[0.5_f32, 2.0, 2.0]), 1);
        assert_eq!(highest::<f64>(&[]), 0);
    }
}
