//! Resamples strokes: from points evenly spaced in time to as many points as a smooth curve needs, still
//! evenly spaced in time.

use super::geometry::{BODY, Point, distance};

/// The largest distance between neighbouring points, page units. After rounding it is at most 2.
pub(super) const MAX_STEP: f32 = 1.96;
/// A shorter stroke is slower: its largest speed is proportional to the square root of its length. Of longer
/// strokes it does not depend on the length, as measured for the people of omniglot-strokes. Page units.
const FULL_SPEED: f32 = 1.25 * BODY;
/// The share of the full speed that the shortest strokes reach.
const LEAST_SPEED: f32 = 0.3;
/// The smallest number of points of a stroke. A dot is a stroke too.
const MIN_POINTS: usize = 4;
/// The largest number of points of a stroke. A line across the widest page needs fewer.
const MAX_POINTS: usize = 4000;

/// Points on a smooth curve through `stroke`, limited to the rectangle from 0 to `bounds` and rounded to
/// hundredths.
pub(super) fn resample(stroke: &[Point], bounds: Point) -> Vec<Point> {
    let spans = stroke.len().saturating_sub(1).max(1);
    let longest = stroke.windows(2).map(|w| distance(w[0], w[1])).fold(0.0, f32::max);
    let length: f32 = stroke.windows(2).map(|w| distance(w[0], w[1])).sum();
    let max_step = MAX_STEP * (length / FULL_SPEED).sqrt().clamp(LEAST_SPEED, 1.0);
    let mut n = steps(spans, longest, max_step);
    loop {
        let points = sampled(stroke, n);
        let longest = points.windows(2).map(|w| distance(w[0], w[1])).fold(0.0, f32::max);
        if longest <= max_step || n >= MAX_POINTS {
            return points.into_iter().map(|p| [inside(p[0], bounds[0]), inside(p[1], bounds[1])]).collect();
        }
        n = steps(n, longest, max_step).max(n + 1);
    }
}

/// The number of steps that would make the longest of `n` steps short enough.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the result is clamped to small numbers"
)]
fn steps(n: usize, longest: f32, max_step: f32) -> usize {
    ((n as f32 * longest / max_step).ceil().max(0.0) as usize).clamp(MIN_POINTS - 1, MAX_POINTS)
}

/// `n + 1` points of the Catmull-Rom curve through `stroke`, at equal times.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "there are at most MAX_POINTS"
)]
fn sampled(stroke: &[Point], n: usize) -> Vec<Point> {
    let last = stroke.len().saturating_sub(1);
    let get = |i: usize| stroke.get(i.min(last)).copied().unwrap_or_default();
    let at = |step: usize| {
        let time = last as f32 * step as f32 / n as f32;
        let i = (time as usize).min(last.saturating_sub(1));
        let around = [get(i.saturating_sub(1)), get(i), get(i + 1), get(i + 2)];
        std::array::from_fn(|k| spline(around.map(|p| p[k]), time - i as f32))
    };
    (0..=n).map(at).collect()
}

/// The Catmull-Rom spline through four evenly spaced values, between the middle two, at `t` from 0 to 1.
fn spline(p: [f32; 4], t: f32) -> f32 {
    let cubic = 3.0 * (p[1] - p[2]) + p[3] - p[0];
    let square = 2.0 * p[0] - 5.0 * p[1] + 4.0 * p[2] - p[3];
    p[1] + 0.5 * t * (p[2] - p[0] + t * (square + t * cubic))
}

/// Limits a coordinate to the page and rounds it to hundredths.
fn inside(value: f32, bound: f32) -> f32 {
    (value.clamp(0.0, bound) * 100.0).round() / 100.0
}
