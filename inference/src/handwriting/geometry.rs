//! Geometry of strokes: the unit of length, points, and what is asked of them everywhere.

/// From headline to baseline, page units.
pub(crate) const BODY: f32 = 52.0;

/// A position of the pen: x and y, page units, y down.
pub(crate) type Point = [f32; 2];

/// A stroke moved by `dx` and `dy` page units.
pub(crate) fn moved(mut stroke: Vec<Point>, dx: f32, dy: f32) -> Vec<Point> {
    for point in &mut stroke {
        *point = [point[0] + dx, point[1] + dy];
    }
    stroke
}

/// The least and the greatest x; none of no points.
pub(crate) fn extent<'a>(points: impl Iterator<Item = &'a Point>) -> Option<[f32; 2]> {
    points.map(|p| [p[0], p[0]]).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
}
