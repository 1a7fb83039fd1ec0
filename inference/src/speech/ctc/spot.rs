//! Term spotting: a CTC model's frames and the units of a term come in; how much less likely the term is than what the model
//! finds likeliest goes out.

use crate::cast::{count, narrow};

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
}
