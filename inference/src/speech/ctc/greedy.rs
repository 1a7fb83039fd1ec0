//! Greedy decoding of CTC (connectionist temporal classification) emissions, and their confidence.

use super::units::Units;
use crate::{
    cast::{count, narrow},
    speech::words::{Token, Transcript},
};

/// Takes the likeliest unit of every frame. Repeats of a unit become one token, and blanks are left out.
pub(crate) fn greedy(frames: &[&[f32]], units: &Units) -> Transcript {
    let best = |frame: &&[f32]| {
        let best = frame.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        best.map_or(units.blank(), |(unit, _)| unit)
    };
    let likeliest: Vec<usize> = frames.iter().map(best).collect();
    let mut tokens: Vec<Token> = Vec::new();
    let mut before = units.blank();
    for (frame, &unit) in likeliest.iter().enumerate() {
        if unit == units.blank() {
            // A blank adds no token.
        } else if unit == before {
            if let Some(token) = tokens.last_mut() {
                token.end = frame + 1;
            }
        } else {
            tokens.push(Token::new(units.text(unit), frame, frame + 1));
        }
        before = unit;
    }
    Transcript { tokens, blanks: likeliest.iter().map(|unit| *unit == units.blank()).collect() }
}

/// The confidence of a window's transcript, 0 to 1: the mean over its units of each unit's highest frame
/// probability, without spaces. It is 0 if there are no units. `transcript` must be the result of [`greedy`].
pub(crate) fn confidence(frames: &[&[f32]], transcript: &Transcript) -> f32 {
    let highest = |token: &Token| {
        let frames = frames.get(token.frame..token.end).unwrap_or_default();
        let all = frames.iter().map(|frame| frame.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        all.fold(f32::NEG_INFINITY, f32::max).exp()
    };
    let probabilities: Vec<f32> = transcript.tokens.iter().filter(|t| !t.is_space()).map(highest).collect();
    if probabilities.is_empty() {
        return 0.0;
    }
    probabilities.iter().sum::<f32>() / narrow(count(probabilities.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn confidence_is_the_mean_of_the_highest_probability_of_each_unit() {
        let token = |text: &str, frame, end| Token::new(text, frame, end);
        let frames: Vec<Vec<f32>> = [[0.9, 0.1], [0.5, 0.5], [0.3, 0.7], [0.6, 0.4]]
            .iter()
            .map(|frame| frame.iter().map(|p: &f32| p.ln()).collect())
            .collect();
        let frames: Vec<&[f32]> = frames.iter().map(Vec::as_slice).collect();
        let transcript = |tokens| Transcript { tokens, blanks: vec![false; 4] };
        let spoken = transcript(vec![token("ਕ", 0, 2), token("▁", 2, 3), token("ਖ", 3, 4)]);
        assert!((confidence(&frames, &spoken) - 0.75).abs() < 1e-6, "the space does not count");
        assert!(confidence(&frames, &transcript(Vec::new())).abs() < 1e-6);
    }
}
