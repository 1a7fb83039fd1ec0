//! Scales and centres the ink in the feature square, and makes stroke widths more uniform.

use super::plane::{Area, Plane};

/// Side of the square feature image, pixels.
pub const SIDE: usize = 48;

/// Margin on each side of the ink's longest side, in feature pixels.
const MARGIN: usize = 3;
/// A mean stroke width between these two values, in feature pixels, is not changed.
const WIDTHS: (f32, f32) = (3.0, 5.0);

/// Scales the ink's bounding box so that its longest side is `SIDE - 2 * MARGIN`, keeps its aspect ratio,
/// centres it, and adjusts the stroke width. Returns `SIDE * SIDE` values in row-major order.
pub(super) fn square(plane: &Plane, ink: Area) -> Vec<f32> {
    let room = (SIDE - 2 * MARGIN) as f32;
    let scale = ink.longest() as f32 / room;
    let columns = Taps::new(ink.left, ink.right, scale);
    let rows = Taps::new(ink.top, ink.bottom, scale);
    let mut values = vec![0.0; SIDE * SIDE];
    let mut row = vec![0.0; ink.width()];
    for (out, (first, weights)) in values.chunks_exact_mut(SIDE).zip(rows.iter()) {
        row.fill(0.0);
        for (weight, y) in weights.iter().zip(first..) {
            let source = &plane.values[y * plane.width + ink.left..y * plane.width + ink.right];
            for (value, part) in row.iter_mut().zip(source) {
                *value += weight * part;
            }
        }
        for (value, (first, weights)) in out.iter_mut().zip(columns.iter()) {
            *value = weights.iter().zip(&row[first - ink.left..]).map(|(w, v)| w * v).sum();
        }
    }
    adjust_stroke_width(values)
}

/// For each feature pixel, the source pixels that it is computed from, and their weights.
struct Taps {
    /// For each feature pixel, its first source pixel and the index of its first weight. One more entry marks
    /// the end.
    first: Vec<(usize, usize)>,
    weights: Vec<f32>,
}

impl Taps {
    /// A triangle filter whose half-width is the scale (bilinear interpolation when enlarging). Outside the
    /// box is paper.
    fn new(start: usize, end: usize, scale: f32) -> Self {
        let middle = 0.5 * (start + end) as f32;
        let support = scale.max(1.0);
        let mut places = Vec::with_capacity(SIDE + 1);
        let mut weights = Vec::new();
        for i in 0..SIDE {
            let centre = middle + (i as f32 + 0.5 - 0.5 * SIDE as f32) * scale;
            let first = ((centre - support).floor().max(start as f32) as usize).min(end - 1);
            let last = ((centre + support).ceil().max(0.0) as usize).clamp(first, end);
            places.push((first, weights.len()));
            weights.extend((first..last).map(|at| {
                let distance = (at as f32 + 0.5 - centre).abs() / support;
                (1.0 - distance).max(0.0) / support
            }));
        }
        places.push((end, weights.len()));
        Self { first: places, weights }
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &[f32])> {
        self.first.windows(2).map(|pair| (pair[0].0, &self.weights[pair[0].1..pair[1].1]))
    }
}

/// Makes thin strokes thicker and thick strokes thinner, by blending with a dilation or an erosion.
fn adjust_stroke_width(mut values: Vec<f32>) -> Vec<f32> {
    for value in &mut values {
        *value = value.clamp(0.0, 1.0);
    }
    let width = stroke_width(&values);
    if width < WIDTHS.0 {
        blend(&values, |a, b| if a > b { a } else { b }, ((WIDTHS.0 - width) / 1.5).min(1.0))
    } else if width > WIDTHS.1 {
        blend(&values, |a, b| if a < b { a } else { b }, ((width - WIDTHS.1) / 2.5).min(0.8))
    } else {
        values
    }
}

/// Mean stroke width in pixels: twice the area, divided by the length of the outline.
fn stroke_width(values: &[f32]) -> f32 {
    let mut outline = 0.0;
    for (row, below) in values.chunks_exact(SIDE).zip(values.chunks_exact(SIDE).skip(1)) {
        let lengths = row.iter().zip(&row[1..]).zip(below).map(|((here, right), below)| {
            let (dx, dy) = (right - here, below - here);
            (dx * dx + dy * dy).sqrt()
        });
        outline += lengths.sum::<f32>();
    }
    if outline > 0.0 { 2.0 * values.iter().sum::<f32>() / outline } else { WIDTHS.0 }
}

/// Moves each value by `share` towards the extreme (as `pick` chooses it) of itself and its four neighbours.
fn blend(values: &[f32], pick: impl Fn(f32, f32) -> f32 + Copy, share: f32) -> Vec<f32> {
    let mut blended = values.to_vec();
    for (y, out) in blended.chunks_exact_mut(SIDE).enumerate().take(SIDE - 1).skip(1) {
        let row = |y: usize| &values[y * SIDE..(y + 1) * SIDE];
        let (above, here, below) = (row(y - 1), row(y), row(y + 1));
        let vertical = above[1..SIDE - 1].iter().zip(&below[1..SIDE - 1]).map(|(a, b)| pick(*a, *b));
        let horizontal = here[..SIDE - 2].iter().zip(&here[2..]).map(|(a, b)| pick(*a, *b));
        for ((value, vertical), horizontal) in out[1..SIDE - 1].iter_mut().zip(vertical).zip(horizontal) {
            let extreme = pick(pick(vertical, horizontal), *value);
            *value += share * (extreme - *value);
        }
    }
    blended
}
