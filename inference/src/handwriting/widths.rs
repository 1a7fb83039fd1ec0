//! A stroke comes in; its parts go out, each of one width. The line is wider where the pen is slow.

use super::{
    geometry::{Point, distance},
    pen::MAX_STEP,
};

/// The smallest and the largest width of a line, as shares of the pen's width. A slow pen draws wider.
const PRESSURE: [f32; 2] = [0.84, 1.12];
/// The number of different line widths.
pub(super) const WIDTHS: usize = 7;
/// A point within this distance of a line counts as on the line, pixels.
const TOLERANCE: f32 = 0.06;
/// The largest number of points that one straight line replaces.
const LONGEST_CHORD: usize = 16;

/// A part of a stroke that is drawn in one width.
#[derive(Debug)]
pub(super) struct Part {
    /// The index of its width: see [`share`].
    pub(super) width: usize,
    /// At least two points. A part reaches one point into the next one, unless it ends at a corner.
    pub(super) points: Vec<Point>,
    /// Whether its end is a corner or the end of the stroke.
    pub(super) is_last_or_at_corner: bool,
}

/// The line width with this index, as a share of the pen's width.
#[expect(clippy::cast_precision_loss, reason = "there are few widths")]
pub(super) fn share(width: usize) -> f32 {
    PRESSURE[0] + (PRESSURE[1] - PRESSURE[0]) * width as f32 / (WIDTHS - 1) as f32
}

/// Cuts a stroke where the line width changes and at its corners.
pub(super) fn parts(stroke: &[Point]) -> Vec<Part> {
    let widths = widths(stroke);
    let mut parts = Vec::new();
    let mut from = 0;
    for to in 1..stroke.len() {
        let is_end = to + 1 == stroke.len();
        let is_corner = !is_end && is_sharp(stroke[to - 1], stroke[to], stroke[to + 1]);
        if !is_end && !is_corner && widths[to] == widths[from] {
            continue;
        }
        let end = if is_end || is_corner { to } else { to + 1 };
        parts.push(Part {
            width: widths[from],
            points: thinned(&stroke[from..=end]),
            is_last_or_at_corner: is_end || is_corner,
        });
        from = to;
    }
    parts
}

/// The points without those that lie on a straight line between others. So there are fewer edges to fill.
fn thinned(points: &[Point]) -> Vec<Point> {
    let mut kept = vec![points[0]];
    let last = points.len() - 1;
    let mut from = 0;
    while from < last {
        let mut to = from + 1;
        while to < last && to - from < LONGEST_CHORD && is_straight(&points[from..=to + 1]) {
            to += 1;
        }
        kept.push(points[to]);
        from = to;
    }
    kept
}

/// Whether all points lie within [`TOLERANCE`] of the line from the first to the last.
fn is_straight(points: &[Point]) -> bool {
    let (Some(a), Some(b)) = (points.first(), points.last()) else { return true };
    let [dx, dy] = [b[0] - a[0], b[1] - a[1]];
    let length = distance(*a, *b).max(1e-6);
    points.iter().all(|p| ((p[0] - a[0]) * dy - (p[1] - a[1]) * dx).abs() <= TOLERANCE * length)
}

/// Whether a path turns by more than about 25 degrees at its middle point.
fn is_sharp(from: Point, at: Point, to: Point) -> bool {
    let [a, b] = [[at[0] - from[0], at[1] - from[1]], [to[0] - at[0], to[1] - at[1]]];
    let along = a[0] * b[0] + a[1] * b[1];
    along < 0.9 * distance(from, at) * distance(at, to)
}

/// The index of the line width from each point to the next. The faster the pen moves, the narrower the line.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a number from 0 to 1, times a small number"
)]
fn widths(stroke: &[Point]) -> Vec<usize> {
    let speeds: Vec<f32> = stroke.windows(2).map(|w| distance(w[0], w[1])).collect();
    // The pressure changes slowly: it follows a running mean of the speed over about a dozen points.
    let mut slow = speeds.first().copied().unwrap_or(0.0);
    speeds
        .iter()
        .map(|speed| {
            slow += 0.15 * (speed - slow);
            let pressure = 1.0 - (slow / MAX_STEP).min(1.0);
            (pressure * (WIDTHS - 1) as f32).round() as usize
        })
        .collect()
}
