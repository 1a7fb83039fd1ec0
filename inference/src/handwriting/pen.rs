//! A pen's path: points evenly spaced in time come in; as many as a smooth curve needs come out, still
//! evenly spaced in time.

use super::geometry::Point;

/// Neighbouring points lie at most this far apart, page units; 2 once rounded.
const FURTHEST: f32 = 1.96;
/// The fewest points of a stroke: a dot is one too.
const FEWEST: usize = 4;
/// The most points of a stroke: no line across the widest page needs as many.
const MOST: usize = 4000;

/// Points on a smooth curve through `stroke`, inside `[0, bounds]`, rounded to hundredths.
pub(super) fn follow(stroke: &[Point], bounds: Point) -> Vec<Point> {
    let spans = stroke.len().saturating_sub(1).max(1);
    let longest = stroke.windows(2).map(|w| distance(w[0], w[1])).fold(0.0, f32::max);
    let mut n = steps(spans, longest);
    loop {
        let points = sampled(stroke, n);
        let longest = points.windows(2).map(|w| distance(w[0], w[1])).fold(0.0, f32::max);
        if longest <= FURTHEST || n >= MOST {
            return points.into_iter().map(|p| [inside(p[0], bounds[0]), inside(p[1], bounds[1])]).collect();
        }
        n = steps(n, longest).max(n + 1);
    }
}

/// How many steps make the longest of `n` short enough.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "bounded"
)]
fn steps(n: usize, longest: f32) -> usize {
    ((n as f32 * longest / FURTHEST).ceil().max(0.0) as usize).clamp(FEWEST - 1, MOST)
}

/// `n + 1` points of the Catmull-Rom curve through `stroke`, at equal times.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "at most MOST"
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

/// Between the middle two of four evenly spaced values, at `t` from 0 to 1.
fn spline(p: [f32; 4], t: f32) -> f32 {
    let cubic = 3.0 * (p[1] - p[2]) + p[3] - p[0];
    let square = 2.0 * p[0] - 5.0 * p[1] + 4.0 * p[2] - p[3];
    p[1] + 0.5 * t * (p[2] - p[0] + t * (square + t * cubic))
}

fn distance(a: Point, b: Point) -> f32 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Kept on the page, in hundredths.
fn inside(value: f32, bound: f32) -> f32 {
    (value.clamp(0.0, bound) * 100.0).round() / 100.0
}
