//! Joins the strokes of letters to a headline that is not straight.

use super::{
    geometry::{BODY, Point, distance},
    hand::{Rng, normal},
    headline::Headline,
};

/// Ink down to this distance below the headline moves with it, page units.
const DEPTH: f32 = 0.35 * BODY;
/// A stroke that begins or ends within this distance of the headline is joined to it, page units.
const NEAR: f32 = 0.06 * BODY;
/// How far such an end is from the headline: the standard deviation, the highest above, and the lowest below,
/// page units. It is hardly ever below, so that a thin pen leaves no gap.
const MISS: [f32; 3] = [0.03 * BODY, -0.07 * BODY, 0.015 * BODY];
/// The part of a stroke that moves with its end, page units.
const TAIL: f32 = 0.4 * BODY;

/// Moves a stroke of a letter so that it hangs from the headline.
pub(super) fn hang(mut stroke: Vec<Point>, headline: &Headline, rng: &mut Rng) -> Vec<Point> {
    let joins = [stroke.first(), stroke.last()].map(|end| end.is_some_and(|p| p[1].abs() < NEAR));
    let [deviation, above, below] = MISS;
    for (joins, is_last) in joins.into_iter().zip([false, true]) {
        if joins {
            let by = (deviation * normal(rng)).clamp(above, below);
            if is_last {
                shift_end(stroke.iter_mut().rev(), by);
            } else {
                shift_end(stroke.iter_mut(), by);
            }
        }
    }
    follow(stroke, headline)
}

/// Moves the ink near the headline and above it with the headline.
pub(super) fn follow(mut stroke: Vec<Point>, headline: &Headline) -> Vec<Point> {
    for point in &mut stroke {
        if point[1] < DEPTH {
            let share = (1.0 - point[1] / DEPTH).min(1.0);
            point[1] += headline.at(point[0]) * share * share * (3.0 - 2.0 * share);
        }
    }
    stroke
}

/// Moves the first of these points vertically, and the points after it less and less.
fn shift_end<'a>(points: impl Iterator<Item = &'a mut Point>, by: f32) {
    let mut along = 0.0;
    let mut last: Option<Point> = None;
    for point in points {
        along += last.map_or(0.0, |p| distance(p, *point));
        if along > TAIL {
            return;
        }
        last = Some(*point);
        let share = 1.0 - along / TAIL;
        point[1] += by * share * share;
    }
}
