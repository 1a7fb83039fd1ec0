//! Draws the headline of a word. It is drawn after the letters, has a gap where a letter's top is open, and is
//! as uneven as a line drawn by hand.

use std::f32::consts::TAU;

use rand::RngExt as _;

use super::{
    geometry::{BODY, Point, exp, extent, sin},
    hand::{Rng, normal},
    line::SetWord,
};

/// A letter's headline that ends within this distance of the letter's side is joined to the neighbour's
/// headline.
const REACH: f32 = 0.22 * BODY;
/// How far a headline extends beyond the word, about at most, page units.
const OVERSHOOT: f32 = 2.0;
/// The distance between the positions at which the height of a headline is calculated, page units.
const SPACING: f32 = 3.0;
/// The number of points of one headline stroke: this many for each body height, and more for the ends.
const POINTS: [f32; 2] = [16.0, 12.0];

/// The waves of a headline: how many of them there are in a body height, and the standard deviation of their
/// amplitude in body heights. These values were fitted to the headlines of public drawings (omniglot-gurmukhi).
const WAVES: [(f32, f32); 7] = [
    (0.15, 0.0113),
    (0.35, 0.0113),
    (0.6, 0.0124),
    (0.9, 0.0099),
    (1.3, 0.0071),
    (1.9, 0.0053),
    (2.8, 0.0038),
];
/// How much people differ: the standard deviation of the logarithm of a person's amplitudes.
const STEADINESS: f32 = 0.7;
/// The standard deviations of the slope: of a person, and of one headline.
const SLOPE: [f32; 2] = [0.035, 0.02];
/// A headline longer than this is less steep, because people keep to the line, page units.
const STEEP: f32 = 1.5 * BODY;
/// The largest deviation from a straight line, page units.
const LIMIT: f32 = 0.09 * BODY;

/// How one person draws headlines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Habit {
    /// The factor of the waves' amplitudes.
    unevenness: f32,
    slope: f32,
}

impl Habit {
    pub(super) fn new(rng: &mut Rng) -> Self {
        Self { unevenness: exp(STEADINESS * normal(rng)), slope: SLOPE[0] * normal(rng) }
    }
}

/// The height of a word's headline. y = 0 is the height from which letters hang.
#[derive(Debug)]
pub(super) struct Headline {
    left: f32,
    /// At distances of [`SPACING`] from `left`.
    heights: Vec<f32>,
}

impl Headline {
    pub(super) fn new(word: &SetWord, habit: Habit, rng: &mut Rng) -> Self {
        let ends = word
            .cells
            .iter()
            .flat_map(|(x, cell)| [[x - cell.overhang[0], 0.0], [x + cell.width + cell.overhang[1], 0.0]]);
        let [left, right] = extent(ends.collect::<Vec<_>>().iter()).unwrap_or_default();
        let length = right - left;
        let slope = (habit.slope + SLOPE[1] * normal(rng)) * (STEEP / length.max(STEEP));
        let waves = WAVES.map(|(per_body, amplitude)| {
            let amplitude = amplitude * BODY * habit.unevenness * normal(rng);
            (TAU * per_body / BODY, amplitude, TAU * rng.random::<f32>())
        });
        let height = |i: usize| {
            #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
            let along = i as f32 * SPACING;
            let waves: f32 = waves.iter().map(|(f, a, phase)| a * sin(f * along + phase)).sum();
            (slope * (along - length / 2.0) + waves).clamp(-LIMIT, LIMIT)
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a page's width")]
        let n = (length / SPACING).max(0.0) as usize + 2;
        Self { left, heights: (0..n).map(height).collect() }
    }

    /// The height at `x`.
    pub(super) fn at(&self, x: f32) -> f32 {
        let place = ((x - self.left) / SPACING).max(0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and limited"
        )]
        let i = (place as usize).min(self.heights.len().saturating_sub(2));
        let [from, to] = [i, i + 1].map(|i| self.heights.get(i).copied().unwrap_or_default());
        #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
        let share = (place - i as f32).min(1.0);
        from + share * (to - from)
    }

    /// The strokes of the headline from left to right.
    pub(super) fn strokes(&self, word: &SetWord, rng: &mut Rng) -> Vec<Vec<Point>> {
        intervals(word).into_iter().map(|interval| self.draw(interval, rng)).collect()
    }

    /// One stroke over an interval of x. The pen is at rest at both ends.
    fn draw(&self, [from, to]: [f32; 2], rng: &mut Rng) -> Vec<Point> {
        let from = from - OVERSHOOT * (0.5 + 0.4 * normal(rng)).max(0.0);
        let to = to + OVERSHOOT * (0.5 + 0.4 * normal(rng)).max(0.0);
        let length = to - from;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a page's width")]
        let n = (POINTS[0] * length / BODY + POINTS[1]) as u16;
        let at = |i: u16| {
            let t = f32::from(i) / f32::from(n - 1);
            // The minimum-jerk profile of straight arm movements (Flash and Hogan, 1985).
            let x = from + t * t * t * (10.0 - 15.0 * t + 6.0 * t * t) * length;
            [x, self.at(x)]
        };
        (0..n).map(at).collect()
    }
}

/// The intervals of x that the headline covers, from left to right.
fn intervals(word: &SetWord) -> Vec<[f32; 2]> {
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
    lines
}
