//! Grey-scale morphological closing of small planes.

use super::plane::Plane;

/// Closing with a square window of `2 * reach + 1` cells, clipped at the plane's edges. It removes dark marks
/// that are narrower than the window.
pub(super) fn close(plane: &Plane, reach: usize) -> Plane {
    let dilated = extreme(plane, reach, f32::NEG_INFINITY, |a, b| if a > b { a } else { b });
    extreme(&dilated, reach, f32::INFINITY, |a, b| if a < b { a } else { b })
}

/// The extreme (as `pick` chooses it) of each cell's window, computed along rows and then along columns.
/// Cells beyond the edges have the value `neutral`.
fn extreme(plane: &Plane, reach: usize, neutral: f32, pick: impl Fn(f32, f32) -> f32 + Copy) -> Plane {
    let (width, height) = (plane.width, plane.height);
    // `reach` neutral cells on each side of every row first; then as many rows above and below.
    let padded = width + 2 * reach;
    let mut values = vec![neutral; padded * height];
    for (row, source) in values.chunks_exact_mut(padded).zip(plane.values.chunks_exact(width)) {
        row[reach..reach + width].copy_from_slice(source);
    }
    let values = running(values, 1, 2 * reach + 1, pick);
    let mut rows = vec![neutral; width * (height + 2 * reach)];
    for (row, source) in rows.chunks_exact_mut(width).skip(reach).zip(values.chunks(padded)) {
        row.copy_from_slice(&source[..width]);
    }
    let mut values = running(rows, width, 2 * reach + 1, pick);
    values.truncate(width * height);
    Plane { width, height, values }
}

/// For each position, the extreme of its value and the next `window - 1` values at a distance of `stride`
/// from each other. Positions too near to the end for that are left out. Each pass doubles the window by
/// combining two smaller windows; in the last pass the two windows overlap.
fn running(
    mut values: Vec<f32>,
    stride: usize,
    window: usize,
    pick: impl Fn(f32, f32) -> f32 + Copy,
) -> Vec<f32> {
    let mut size = 1;
    while size < window {
        let shift = size.min(window - size);
        let shifted = values.get(shift * stride..).unwrap_or_default();
        values = values.iter().zip(shifted).map(|(a, b)| pick(*a, *b)).collect();
        size += shift;
    }
    values
}
