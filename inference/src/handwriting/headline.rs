//! Draws the headline of a word. It is drawn after the letters, and has a gap where a letter's top is open.

use rand::rngs::SmallRng;

use super::{
    geometry::{BODY, Point},
    line::SetWord,
    writer::normal,
};

/// A letter's headline that ends within this distance of the letter's side is joined to the neighbour's
/// headline.
const REACH: f32 = 0.22 * BODY;
/// How far a headline extends beyond the word, about at most, page units.
const OVERSHOOT: f32 = 2.0;
/// The number of points of one headline stroke.
const N_POINTS: u8 = 24;

/// The strokes of a word's headline from left to right. y = 0 is the height from which letters hang.
pub(super) fn of(word: &SetWord, rng: &mut SmallRng) -> Vec<Vec<Point>> {
    let mut lines: Vec<[f32; 2]> = Vec::new();
    // Whether the last line can be continued by the next letter.
    let mut goes_on = false;
    let hangers = word.cells.iter().flat_map(|(x, cell)| cell.hangers.iter().map(move |h| (*x, h)));
    for (x, hanger) in hangers {
        for (i, [from, to]) in hanger.spans.iter().enumerate() {
            let reaches_back = i == 0 && *from <= hanger.left + REACH;
            match lines.last_mut() {
                Some(line) if (goes_on && reaches_back) || from + x <= line[1] => {
                    line[1] = line[1].max(to + x);
                }
                _ => lines.push([from + x, to + x]),
            }
            goes_on = *to >= hanger.right - REACH;
        }
        if hanger.spans.is_empty() {
            goes_on = false;
        }
    }
    lines.into_iter().map(|[from, to]| draw(from, to, rng)).collect()
}

/// One stroke from x = `from` to x = `to`, with small random deviations. The pen is at rest at both ends.
fn draw(from: f32, to: f32, rng: &mut SmallRng) -> Vec<Point> {
    let from = from - OVERSHOOT * (0.5 + 0.4 * normal(rng)).max(0.0);
    let to = to + OVERSHOOT * (0.5 + 0.4 * normal(rng)).max(0.0);
    let (slope, wave, phase) = (0.008 * normal(rng), 0.5 * normal(rng), 3.0 * normal(rng));
    let length = to - from;
    let at = |i: u8| {
        let t = f32::from(i) / f32::from(N_POINTS - 1);
        // The minimum-jerk profile of straight arm movements (Flash and Hogan, 1985).
        let along = t * t * t * (10.0 - 15.0 * t + 6.0 * t * t) * length;
        let deviation = slope * (along - length / 2.0) + wave * (along / 55.0 + phase).sin();
        [from + along, deviation.clamp(-2.0, 2.0)]
    };
    (0..N_POINTS).map(at).collect()
}
