//! Geometry of strokes: the unit of length, points, and functions on points.

/// The height of a letter's body, from the headline to the baseline, page units.
pub(crate) const BODY: f32 = 52.0;

/// A position of the pen: x and y in page units, with y pointing down.
pub(crate) type Point = [f32; 2];

/// Moves a stroke by `dx` and `dy` page units.
pub(crate) fn moved(mut stroke: Vec<Point>, dx: f32, dy: f32) -> Vec<Point> {
    for point in &mut stroke {
        *point = [point[0] + dx, point[1] + dy];
    }
    stroke
}

/// The smallest and the largest x; `None` if there are no points.
pub(crate) fn extent<'a>(points: impl Iterator<Item = &'a Point>) -> Option<[f32; 2]> {
    points.map(|p| [p[0], p[0]]).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
}

/// The distance between two points. Unlike `hypot` of a library it has the same value on every machine.
pub(crate) fn distance(a: Point, b: Point) -> f32 {
    let [x, y] = [a[0] - b[0], a[1] - b[1]];
    (x * x + y * y).sqrt()
}

/// The sine of `x` radians, the same on every machine (see `hand`).
#[expect(clippy::cast_possible_truncation, reason = "rounded to float32 on purpose")]
pub(crate) fn sin(x: f32) -> f32 {
    f64::from(x).sin() as f32
}

/// The exponential of `x`, the same on every machine (see `hand`).
#[expect(clippy::cast_possible_truncation, reason = "rounded to float32 on purpose")]
pub(crate) fn exp(x: f32) -> f32 {
    f64::from(x).exp() as f32
}
