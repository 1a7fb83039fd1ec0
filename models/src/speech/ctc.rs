//! Connectionist temporal classification: each frame's log-probabilities come in; tokens come out.

use super::{
    Units,
    decoder::{Reading, Token},
};

/// The likeliest unit of every frame; repeats are one token, blanks none.
pub(crate) fn greedy(frames: &[&[f32]], units: &Units) -> Reading {
    let best = |frame: &&[f32]| {
        let best = frame.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
        best.map_or(units.blank(), |(unit, _)| unit)
    };
    let likeliest: Vec<usize> = frames.iter().map(best).collect();
    let mut tokens: Vec<Token> = Vec::new();
    let mut before = units.blank();
    for (frame, &unit) in likeliest.iter().enumerate() {
        if unit == units.blank() {
            // Nothing is said.
        } else if unit == before {
            if let Some(token) = tokens.last_mut() {
                token.end = frame + 1;
            }
        } else {
            tokens.push(Token { text: units.text(unit).to_owned(), frame, end: frame + 1 });
        }
        before = unit;
    }
    Reading { tokens, blanks: likeliest.iter().map(|unit| *unit == units.blank()).collect() }
}
