//! Loops of generation: a text's tokens come in; whether it says the same again and again comes out.

/// How often a run of tokens must come in a row.
const TIMES: usize = 4;
/// How many tokens these must be together, so that a digit said four times is none.
const LENGTH: usize = 8;

/// Whether a run of tokens, of whatever length, comes at least four times in a row.
pub(super) fn repeats_itself(tokens: &[i64]) -> bool {
    let is_period = |period: usize| {
        let mut length = period;
        tokens.iter().zip(&tokens[period..]).any(|(before, after)| {
            length = if before == after { length + 1 } else { period };
            length >= LENGTH.max(TIMES * period)
        })
    };
    (1..=tokens.len() / TIMES).any(is_period)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_comes_four_times_is_repetition() {
        assert!(repeats_itself(&[9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 8]));
        assert!(!repeats_itself(&[9, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 8]));
        assert!(repeats_itself(&[5; 8]));
        assert!(!repeats_itself(&[5; 7]), "a digit may be said some times");
        assert!(!repeats_itself(&[1, 2, 1, 2, 1, 2, 3, 1, 2]));
        assert!(!repeats_itself(&[]));
    }
}
