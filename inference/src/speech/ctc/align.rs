//! Forced alignment: finds the frames of each unit of a known text, on the likeliest CTC path that spells the
//! text.

use std::ops::Range;

/// The range of frames of each unit. Each of `frames` has a log-probability for each unit and, last, for the
/// blank. `None` if there are too few frames for the text.
pub(crate) fn align(frames: &[&[f32]], units: &[u8]) -> Option<Vec<Range<usize>>> {
    // The odd states are the units. The even states are blanks before, between and after them.
    let n_states = 2 * units.len() + 1;
    let unit = |state: usize| (state % 2 == 1).then(|| units[state / 2]);
    let value = |frame: &[f32], state: usize| {
        let value = unit(state).map_or(frame.last(), |unit| frame.get(usize::from(unit)));
        value.copied().unwrap_or(f32::NEG_INFINITY)
    };
    // How many states before a state can lead to it: the previous one, and the one before the blank if the
    // two units are different.
    let reach = |state: usize| {
        let past_blank = state >= 3 && state % 2 == 1 && unit(state) != unit(state - 2);
        usize::from(state > 0) + usize::from(past_blank)
    };
    let mut scores = vec![f32::NEG_INFINITY; n_states];
    let first = frames.first()?;
    for (state, score) in scores.iter_mut().enumerate().take(2) {
        *score = value(first, state);
    }
    let mut steps = vec![0u8; n_states * frames.len()];
    for (frame, steps) in frames.iter().zip(steps.chunks_exact_mut(n_states)).skip(1) {
        // From the last state down, because a state's new score needs the old scores of the states before it.
        for state in (0..n_states).rev() {
            let from =
                (0..=reach(state)).rev().max_by(|a, b| scores[state - a].total_cmp(&scores[state - b]));
            let from = from.unwrap_or_default();
            steps[state] = u8::try_from(from).unwrap_or_default();
            scores[state] = scores[state - from] + value(frame, state);
        }
    }
    let last = (n_states.saturating_sub(2)..n_states).max_by(|a, b| scores[*a].total_cmp(&scores[*b]))?;
    if scores[last] == f32::NEG_INFINITY {
        return None;
    }
    let mut spans: Vec<Option<Range<usize>>> = vec![None; units.len()];
    let mut state = last;
    for (t, steps) in steps.chunks_exact(n_states).enumerate().rev() {
        if state % 2 == 1 {
            let span = &mut spans[state / 2];
            *span = Some(t..span.as_ref().map_or(t + 1, |later| later.end));
        }
        state -= usize::from(steps[state]);
    }
    spans.into_iter().collect()
}

/// The highest log-probability that a unit has in the frames of `span`.
pub(crate) fn highest(frames: &[&[f32]], span: Range<usize>, unit: u8) -> f32 {
    let frames = frames.get(span).unwrap_or_default();
    let of_frame = |frame: &&[f32]| frame.get(usize::from(unit)).copied();
    frames.iter().filter_map(of_frame).fold(f32::NEG_INFINITY, f32::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aligned(best: &[usize], units: &[u8]) -> Option<Vec<Range<usize>>> {
        let frame = |unit: &usize| {
            let mut frame = vec![-5.0; 3];
            frame[*unit] = -0.1;
            frame
        };
        let frames: Vec<Vec<f32>> = best.iter().map(frame).collect();
        let frames: Vec<&[f32]> = frames.iter().map(Vec::as_slice).collect();
        align(&frames, units)
    }

    #[test]
    fn each_unit_gets_the_frames_in_which_it_is_likely() {
        assert_eq!(aligned(&[2, 0, 0, 1, 2, 1, 2], &[0, 1, 1]), Some(vec![1..3, 3..4, 5..6]));
        assert_eq!(aligned(&[0, 1], &[0, 1]), Some(vec![0..1, 1..2]));
        assert_eq!(aligned(&[2, 2], &[]), Some(vec![]));
    }

    #[test]
    fn too_few_frames_give_no_alignment() {
        assert_eq!(aligned(&[0, 0], &[0, 0]), None, "a repeated unit needs a blank in between");
        assert_eq!(aligned(&[0, 1], &[0, 1, 0]), None);
        assert_eq!(aligned(&[], &[0]), None);
    }
}
