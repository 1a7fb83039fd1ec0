//! Scales and centres the ink in the feature square, and makes stroke widths more uniform.

use super::{
    mark::Ink,
    plane::{BLOCK, MAX_SIDE, side_by_side, sum},
};

/// Side of the square feature image, pixels.
pub const SIDE: usize = 48;

/// Margin on each side of the ink's longest side, in feature pixels.
const MARGIN: usize = 3;
/// A mean stroke width between these two values, in feature pixels, is not changed.
const WIDTHS: (f32, f32) = (3.0, 5.0);

/// A row or column of the feature square.
type Line = [f32; SIDE];

/// Scales the ink's bounding box so that its longest side is `SIDE - 2 * MARGIN`, keeps its aspect ratio,
/// centres it, and adjusts the stroke width. Returns `SIDE * SIDE` values in row-major order.
pub(super) fn square(ink: &Ink) -> Vec<f32> {
    let (width, height) = (ink.area.width(), ink.area.height());
    let scale = width.max(height) as f32 / (SIDE - 2 * MARGIN) as f32;
    // The columns are averaged to those of the square first, eight at a time. Then they are turned into rows,
    // and these are averaged.
    let mut rows = vec![[0.0; SIDE]; height];
    let mut parts_of_rows = [[0.0; BLOCK]; MAX_SIDE];
    let taps = Taps::new(width, scale);
    let mut taps = taps.iter();
    for block in 0..SIDE / BLOCK {
        let mut columns = [[0.0; MAX_SIDE]; BLOCK];
        for (column, (first, weights)) in columns.iter_mut().zip(&mut taps) {
            add_weighted(&mut column[..height], &ink.columns[first..], weights);
        }
        side_by_side(columns.each_ref().map(|column| &column[..height]), &mut parts_of_rows);
        for (row, part) in rows.iter_mut().zip(&parts_of_rows) {
            row.as_chunks_mut::<BLOCK>().0[block] = *part;
        }
    }
    let mut lines = [[0.0; SIDE]; SIDE];
    for (line, (first, weights)) in lines.iter_mut().zip(Taps::new(height, scale).iter()) {
        add_weighted(line, &rows[first..], weights);
        for value in line {
            *value = value.clamp(0.0, 1.0);
        }
    }
    adjust_stroke_width(&lines)
}

/// Adds the source lines times their weights.
fn add_weighted<const N: usize>(sums: &mut [f32], sources: &[[f32; N]], weights: &[f32]) {
    for (weight, source) in weights.iter().zip(sources) {
        for (sum, value) in sums.iter_mut().zip(source) {
            *sum += weight * value;
        }
    }
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
    /// box, which has `n` pixels, is paper.
    fn new(n: usize, scale: f32) -> Self {
        let middle = 0.5 * n as f32;
        let support = scale.max(1.0);
        let mut places = Vec::with_capacity(SIDE + 1);
        let mut weights = Vec::new();
        for i in 0..SIDE {
            let centre = middle + (i as f32 + 0.5 - 0.5 * SIDE as f32) * scale;
            let first = ((centre - support).floor().max(0.0) as usize).min(n - 1);
            let last = ((centre + support).ceil().max(0.0) as usize).clamp(first, n);
            places.push((first, weights.len()));
            weights.extend((first..last).map(|at| {
                let distance = (at as f32 + 0.5 - centre).abs() / support;
                (1.0 - distance).max(0.0) / support
            }));
        }
        places.push((n, weights.len()));
        Self { first: places, weights }
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &[f32])> {
        self.first.windows(2).map(|pair| (pair[0].0, &self.weights[pair[0].1..pair[1].1]))
    }
}

/// Makes thin strokes thicker and thick strokes thinner, by blending with a dilation or an erosion.
fn adjust_stroke_width(lines: &[Line; SIDE]) -> Vec<f32> {
    let width = stroke_width(lines);
    if width < WIDTHS.0 {
        blend(lines, |a, b| if a > b { a } else { b }, ((WIDTHS.0 - width) / 1.5).min(1.0))
    } else if width > WIDTHS.1 {
        blend(lines, |a, b| if a < b { a } else { b }, ((width - WIDTHS.1) / 2.5).min(0.8))
    } else {
        lines.as_flattened().to_vec()
    }
}

/// Mean stroke width in pixels: twice the area, divided by the length of the outline.
fn stroke_width(lines: &[Line; SIDE]) -> f32 {
    let mut outline = 0.0;
    for (line, below) in lines.iter().zip(&lines[1..]) {
        let mut lengths = [0.0; SIDE];
        for (((length, here), right), below) in lengths.iter_mut().zip(line).zip(&line[1..]).zip(below) {
            let (dx, dy) = (right - here, below - here);
            *length = (dx * dx + dy * dy).sqrt();
        }
        outline += sum(std::iter::once(&lengths[..]), |v| v);
    }
    let area = sum(lines.iter().map(|line| &line[..]), |v| v);
    if outline > 0.0 { 2.0 * area / outline } else { WIDTHS.0 }
}

/// Moves each value by `share` towards the extreme (as `pick` chooses it) of itself and its four neighbours.
/// The values at the edge stay.
fn blend(lines: &[Line; SIDE], pick: impl Fn(f32, f32) -> f32 + Copy, share: f32) -> Vec<f32> {
    let mut blended = lines.as_flattened().to_vec();
    let inner = &mut blended.as_chunks_mut::<SIDE>().0[1..SIDE - 1];
    for (out, near) in inner.iter_mut().zip(lines.windows(3)) {
        let vertical = near[0][1..].iter().zip(&near[2][1..]).map(|(a, b)| pick(*a, *b));
        let horizontal = near[1].iter().zip(&near[1][2..]).map(|(a, b)| pick(*a, *b));
        for ((value, vertical), horizontal) in out[1..].iter_mut().zip(vertical).zip(horizontal) {
            let extreme = pick(pick(vertical, horizontal), *value);
            *value += share * (extreme - *value);
        }
    }
    blended
}
