//! Colours in, contrast against the paper out: 0 on paper, growing with the ink's strength.
//!
//! The paper field is a grey closing (dark ink) or opening (light ink) at low resolution, as in
//! Serra, *Image Analysis and Mathematical Morphology* (1982): it follows lighting and the edges of
//! shadows, and loses every mark narrower than its window.

use super::{plane::Plane, shrink::Colours};

/// Cells along the longest side of the grid on which the paper is estimated.
const GRID: usize = 40;
/// Half the morphological window as a share of the grid's geometric mean side.
const REACH: f32 = 0.18;
/// The same for a window that only strokes, not the paper between them, are narrower than.
const THIN: f32 = 0.08;
/// Weight of the thin marks when the polarity is decided.
const THIN_COUNTS: f32 = 3.0;
/// Noise above this share of the contrast is smoothed.
const NOISY: f32 = 0.06;

/// Contrast per pixel (colour units along the ink direction, relative to the paper's brightness)
/// and the standard deviation of its noise in the same unit.
pub(super) struct Contrast {
    pub plane: Plane,
    pub noise: f32,
}

pub(super) fn contrast(colours: &Colours) -> Contrast {
    let direction = ink_direction(colours);
    let mut grey = project(colours, direction);
    let mut noise = noise_level(&grey);
    let grid = reduce(&grey);
    let range = spread(&grid.values);
    if noise > NOISY * range && grey.width >= 24 && grey.height >= 24 {
        smooth(&mut grey);
        noise /= 2.5; // a mean of nine divides by 3; JPEG's grain is not independent
    }
    let (dark, light) = (Field::new(&grid, 1.0), Field::new(&grid, -1.0));
    let field = if light.doubt < dark.doubt { light } else { dark };
    let plane = subtract(&grey, &field);
    Contrast { plane, noise }
}

/// Unit-sum colour direction along which neighbouring pixels differ most: the dominant eigenvector
/// of the differences' covariance, large differences counted more.
fn ink_direction(colours: &Colours) -> [f32; 3] {
    let (width, height) = (colours.width, colours.height);
    let step = (width.max(height) / 40).max(1);
    let mut covariance = [[0.0_f32; 3]; 3];
    let pixel = |x: usize, y: usize| {
        let at = (y * width + x) * 3;
        [colours.values[at], colours.values[at + 1], colours.values[at + 2]]
    };
    let stride = if width * height > 4096 { 2 } else { 1 };
    for y in (0..height).step_by(stride) {
        for x in (0..width).step_by(stride) {
            let here = pixel(x, y);
            for (to_x, to_y) in [(x + step, y), (x, y + step)] {
                if to_x < width && to_y < height {
                    let there = pixel(to_x, to_y);
                    let d = [there[0] - here[0], there[1] - here[1], there[2] - here[2]];
                    let weight = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                    for (row, a) in covariance.iter_mut().zip(d) {
                        for (cell, b) in row.iter_mut().zip(d) {
                            *cell += weight * a * b;
                        }
                    }
                }
            }
        }
    }
    dominant(&covariance)
}

/// Power iteration from grey, so that a picture without colour keeps grey.
fn dominant(matrix: &[[f32; 3]; 3]) -> [f32; 3] {
    let mut vector = [0.59_f32, 0.57, 0.57];
    for _ in 0..24 {
        let mut next = [0.0_f32; 3];
        for (value, row) in next.iter_mut().zip(matrix) {
            *value = row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2];
        }
        let length = next.iter().map(|v| v * v).sum::<f32>().sqrt();
        if length <= f32::MIN_POSITIVE {
            break;
        }
        vector = next.map(|v| v / length);
    }
    let sign = if vector.iter().sum::<f32>() < 0.0 { -1.0 } else { 1.0 };
    let total: f32 = vector.iter().map(|v| v.abs()).sum();
    vector.map(|v| sign * v / total)
}

fn project(colours: &Colours, direction: [f32; 3]) -> Plane {
    let [r, g, b] = direction;
    let values = colours.values.chunks_exact(3).map(|p| r * p[0] + g * p[1] + b * p[2]).collect();
    Plane { width: colours.width, height: colours.height, values }
}

/// Standard deviation of the fine grain: the median absolute second difference along rows.
fn noise_level(grey: &Plane) -> f32 {
    let mut grain: Vec<f32> = grey
        .values
        .chunks_exact(grey.width)
        .step_by(if grey.height > 48 { 3 } else { 1 })
        .flat_map(|row| row.windows(3).map(|w| (w[1] - 0.5 * (w[0] + w[2])).abs()))
        .collect();
    if grain.is_empty() {
        return 0.0;
    }
    let middle = grain.len() / 2;
    let (_, median, _) = grain.select_nth_unstable_by(middle, f32::total_cmp);
    // A normal deviate's median is 0.6745 sigma; the second difference has variance 1.5.
    *median / (0.6745 * 1.5_f32.sqrt())
}

/// Means over square cells, at most [`GRID`] of them along the longest side.
fn reduce(grey: &Plane) -> Plane {
    let cell = grey.width.max(grey.height).div_ceil(GRID);
    let (width, height) = (grey.width.div_ceil(cell), grey.height.div_ceil(cell));
    let mut values = vec![0.0; width * height];
    let mut counts = vec![0_u16; width * height];
    for (y, row) in grey.values.chunks_exact(grey.width).enumerate() {
        let start = (y / cell) * width;
        for (at, part) in row.chunks(cell).enumerate() {
            values[start + at] += part.iter().sum::<f32>();
            counts[start + at] += part.len() as u16;
        }
    }
    for (value, count) in values.iter_mut().zip(counts) {
        *value /= f32::from(count);
    }
    Plane { width, height, values }
}

/// Distance between the 2nd and the 98th percentile.
fn spread(values: &[f32]) -> f32 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let last = sorted.len() - 1;
    sorted[last - last / 50] - sorted[last / 50]
}

/// Mean over each pixel's 3 x 3 neighbourhood, edges repeated.
fn smooth(grey: &mut Plane) {
    let (width, height) = (grey.width, grey.height);
    let mut across = grey.values.clone();
    for (out, row) in across.chunks_exact_mut(width).zip(grey.values.chunks_exact(width)) {
        for (middle, w) in out[1..].iter_mut().zip(row.windows(3)) {
            *middle = (w[0] + w[1] + w[2]) / 3.0;
        }
    }
    for y in 1..height - 1 {
        for x in 0..width {
            let at = y * width + x;
            grey.values[at] = (across[at - width] + across[at] + across[at + width]) / 3.0;
        }
    }
}

/// The paper under one guess of the polarity, on the grid.
struct Field {
    paper: Plane,
    /// +1: ink is darker than paper; -1: lighter.
    sign: f32,
    /// How badly the guess fits: marks along the image's edge, uneven paper, few thin marks.
    doubt: f32,
}

impl Field {
    fn new(grid: &Plane, sign: f32) -> Self {
        let (width, height) = (grid.width, grid.height);
        let side = ((width * height) as f32).sqrt();
        let reach = |share: f32| (share * side).round().max(1.0) as usize;
        let signed = Plane { width, height, values: grid.values.iter().map(|v| v * sign).collect() };
        let mut paper = close(&signed, reach(REACH));
        let n = paper.values.len() as f32;
        let marks =
            |paper: &Plane| paper.values.iter().zip(&signed.values).map(|(p, v)| p - v).sum::<f32>() / n;
        let thin = marks(&close(&signed, reach(THIN)));
        let mean = paper.values.iter().sum::<f32>() / n;
        let unevenness = (paper.values.iter().map(|v| (v - mean) * (v - mean)).sum::<f32>() / n).sqrt();
        let (mut edge, mut n_edge) = (0.0, 0.0);
        for (at, (paper, value)) in paper.values.iter().zip(&signed.values).enumerate() {
            let (x, y) = (at % width, at / width);
            if x == 0 || y == 0 || x + 1 == width || y + 1 == height {
                edge += paper - value;
                n_edge += 1.0;
            }
        }
        let doubt = marks(&paper) + edge / n_edge + unevenness - THIN_COUNTS * thin;
        for value in &mut paper.values {
            *value *= sign;
        }
        Self { paper, sign, doubt }
    }
}

/// Separable running minimum or maximum over `2 * reach + 1` cells, clipped at the edges.
fn extreme(plane: &Plane, reach: usize, pick: impl Fn(f32, f32) -> f32 + Copy) -> Plane {
    let (width, height) = (plane.width, plane.height);
    let mut across = plane.values.clone();
    for (out, row) in across.chunks_exact_mut(width).zip(plane.values.chunks_exact(width)) {
        for shift in 1..=reach.min(width - 1) {
            pick_each(&mut out[shift..], row, pick);
            pick_each(out, &row[shift..], pick);
        }
    }
    let mut values = across.clone();
    for shift in 1..=reach.min(height - 1) {
        pick_each(&mut values[shift * width..], &across, pick);
        pick_each(&mut values, &across[shift * width..], pick);
    }
    Plane { width, height, values }
}

fn pick_each(out: &mut [f32], other: &[f32], pick: impl Fn(f32, f32) -> f32) {
    for (value, near) in out.iter_mut().zip(other) {
        *value = pick(*value, *near);
    }
}

fn greater(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

fn lesser(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

/// Closing: the plane without dark marks narrower than the window.
fn close(plane: &Plane, reach: usize) -> Plane {
    extreme(&extreme(plane, reach, greater), reach, lesser)
}

/// Paper minus image (ink positive), the field interpolated bilinearly, divided by the paper's
/// brightness where ink is dark, so that ink in a shadow counts as much as ink in the light.
fn subtract(grey: &Plane, field: &Field) -> Plane {
    let (width, height) = (grey.width, grey.height);
    let grid = &field.paper;
    let faintest = grid.values.iter().copied().fold(f32::MAX, f32::min);
    let relative = field.sign > 0.0 && faintest > 0.12;
    let columns = positions(width, grid.width);
    let rows = positions(height, grid.height);
    let mut values = Vec::with_capacity(grey.values.len());
    let mut between = vec![0.0; grid.width];
    for (row, &(top, bottom, share)) in grey.values.chunks_exact(width).zip(&rows) {
        let upper = &grid.values[top * grid.width..(top + 1) * grid.width];
        let lower = &grid.values[bottom * grid.width..(bottom + 1) * grid.width];
        for (value, (a, b)) in between.iter_mut().zip(upper.iter().zip(lower)) {
            *value = a + share * (b - a);
        }
        values.extend(row.iter().zip(&columns).map(|(value, &(left, right, share))| {
            let paper = between[left] + share * (between[right] - between[left]);
            let ink = (field.sign * (paper - value)).max(0.0);
            if relative { ink / paper } else { ink }
        }));
    }
    Plane { width, height, values }
}

/// For each pixel the two nearest cells and the second one's share.
fn positions(pixels: usize, cells: usize) -> Vec<(usize, usize, f32)> {
    let cell = pixels.div_ceil(cells.max(1)) as f32;
    (0..pixels)
        .map(|i| {
            let at = ((i as f32 + 0.5) / cell - 0.5).clamp(0.0, (cells - 1) as f32);
            let low = at as usize;
            (low, (low + 1).min(cells - 1), at - low as f32)
        })
        .collect()
}
