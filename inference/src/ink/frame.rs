//! Coverage and the ink's box in, the centred feature square out.

use super::plane::{Area, Plane};

/// Side of the square feature image in pixels.
pub const SIDE: usize = 48;

/// Paper on each side of the ink's longest extent, in feature pixels.
const MARGIN: usize = 3;
/// Mean stroke widths between these, in feature pixels, are left alone.
const WIDTHS: (f32, f32) = (3.0, 5.0);

/// Resizes the box to fit `SIDE - 2 * MARGIN`, aspect kept, centres it and evens the stroke width.
/// `SIDE * SIDE` values, row-major.
pub(super) fn square(plane: &Plane, ink: Area) -> Vec<f32> {
    let room = (SIDE - 2 * MARGIN) as f32;
    let scale = ink.longest() as f32 / room;
    let columns = taps(ink.left, ink.right, scale);
    let rows = taps(ink.top, ink.bottom, scale);
    let mut across = vec![0.0; ink.height() * SIDE];
    for (out, y) in across.chunks_exact_mut(SIDE).zip(ink.top..ink.bottom) {
        let row = &plane.values[y * plane.width..(y + 1) * plane.width];
        for (value, tap) in out.iter_mut().zip(&columns) {
            *value = tap.weights.iter().zip(&row[tap.first..]).map(|(w, v)| w * v).sum();
        }
    }
    let mut values = vec![0.0; SIDE * SIDE];
    for (out, tap) in values.chunks_exact_mut(SIDE).zip(&rows) {
        for (weight, y) in tap.weights.iter().zip(tap.first..) {
            let row = &across[(y - ink.top) * SIDE..(y - ink.top + 1) * SIDE];
            for (value, part) in out.iter_mut().zip(row) {
                *value += weight * part;
            }
        }
    }
    even(values)
}

/// The source pixels that make one feature pixel.
struct Tap {
    first: usize,
    weights: Vec<f32>,
}

/// A triangle filter as wide as the reduction (bilinear when enlarging); outside the box is paper.
fn taps(start: usize, end: usize, scale: f32) -> Vec<Tap> {
    let middle = 0.5 * (start + end) as f32;
    let support = scale.max(1.0);
    (0..SIDE)
        .map(|i| {
            let centre = middle + (i as f32 + 0.5 - 0.5 * SIDE as f32) * scale;
            let first = ((centre - support).floor().max(start as f32) as usize).min(end - 1);
            let last = ((centre + support).ceil().max(0.0) as usize).clamp(first, end);
            let weights = (first..last)
                .map(|at| {
                    let distance = (at as f32 + 0.5 - centre).abs() / support;
                    (1.0 - distance).max(0.0) / support
                })
                .collect();
            Tap { first, weights }
        })
        .collect()
}

/// Grows thin strokes and thins thick ones part of the way, by blending with a dilation or erosion.
fn even(mut values: Vec<f32>) -> Vec<f32> {
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

/// Mean stroke width in pixels: twice the area over the length of the outline.
fn stroke_width(values: &[f32]) -> f32 {
    let mut outline = 0.0;
    for y in 0..SIDE - 1 {
        for x in 0..SIDE - 1 {
            let at = y * SIDE + x;
            let (dx, dy) = (values[at + 1] - values[at], values[at + SIDE] - values[at]);
            outline += (dx * dx + dy * dy).sqrt();
        }
    }
    if outline > 0.0 { 2.0 * values.iter().sum::<f32>() / outline } else { WIDTHS.0 }
}

/// Moves each value this share of the way to the extreme of its four neighbours and itself.
fn blend(values: &[f32], pick: impl Fn(f32, f32) -> f32 + Copy, share: f32) -> Vec<f32> {
    let mut blended = values.to_vec();
    for y in 1..SIDE - 1 {
        for x in 1..SIDE - 1 {
            let at = y * SIDE + x;
            let sides = [values[at - 1], values[at + 1], values[at - SIDE], values[at + SIDE]];
            let extreme = sides.into_iter().fold(values[at], pick);
            blended[at] += share * (extreme - values[at]);
        }
    }
    blended
}
