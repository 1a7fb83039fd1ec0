//! Reduces a part of a picture to a given size by area averaging. The result has one plane if the part is
//! grey, and three if it has colour.

use super::{
    plane::{Area, Plane},
    view::PixelView,
};

/// The values of each channel, 0.0 ..= 1.0.
pub(super) enum Channels {
    Grey(Plane),
    Rgb([Plane; 3]),
}

/// Area-averages `part` of the image so that no side is longer than `max_side`. A smaller part keeps its
/// size.
pub(super) fn shrink(image: PixelView<'_>, part: Area, max_side: usize) -> Channels {
    let longest = part.longest();
    let fit = |side: usize| {
        if longest <= max_side { side } else { ((side * max_side + longest / 2) / longest).max(1) }
    };
    let size = (fit(part.width()), fit(part.height()));
    let grey = |image, part| {
        let [plane] = averaged::<1>(image, part, size);
        Channels::Grey(plane)
    };
    if image.n_channels == 1 {
        return grey(image, part);
    }
    match grey_pixels(image, part) {
        Some(pixels) => {
            let (width, height) = (part.width(), part.height());
            let image = PixelView { width, height, n_channels: 1, pixels: &pixels };
            grey(image, Area { left: 0, top: 0, right: width, bottom: height })
        }
        None => Channels::Rgb(averaged::<3>(image, part, size)),
    }
}

/// One byte for each pixel of a part of an RGB picture; `None` if a pixel has colour.
fn grey_pixels(image: PixelView<'_>, part: Area) -> Option<Vec<u8>> {
    let mut grey = Vec::with_capacity(part.width() * part.height());
    for y in part.top..part.bottom {
        let row = source_row(image, part, y);
        if !is_grey(row) {
            return None;
        }
        grey.extend(row.chunks_exact(3).map(|pixel| pixel[0]));
    }
    Some(grey)
}

/// Whether all three channels are equal in every pixel of an RGB row.
fn is_grey(row: &[u8]) -> bool {
    /// Bytes that are compared in one step, with a few vector operations: sixteen pixels.
    const BLOCK: usize = 48;
    /// Marks the bytes that equal the next byte in a grey row: all but every third one.
    const MASK: [u8; BLOCK] = {
        let mut mask = [u8::MAX; BLOCK];
        let mut at = 2;
        while at < BLOCK {
            mask[at] = 0;
            at += 3;
        }
        mask
    };
    let blocks = row.chunks_exact(BLOCK);
    let rest = blocks.remainder();
    let differs = |pixel: &[u8]| pixel[0] != pixel[1] || pixel[1] != pixel[2];
    for (block, at) in blocks.zip((0..).step_by(BLOCK)) {
        // The mask ignores every third byte, so the comparison of a block's last byte does not matter.
        let Some(next) = row.get(at + 1..at + 1 + BLOCK) else {
            return !row[at..].chunks_exact(3).any(differs);
        };
        let mut difference = 0;
        for ((a, b), mask) in block.iter().zip(next).zip(&MASK) {
            difference |= (a ^ b) & mask;
        }
        if difference != 0 {
            return false;
        }
    }
    !rest.chunks_exact(3).any(differs)
}

fn source_row(image: PixelView<'_>, part: Area, y: usize) -> &[u8] {
    let start = y * image.width;
    &image.pixels[(start + part.left) * image.n_channels..(start + part.right) * image.n_channels]
}

/// The `N` channels of `part`, averaged to a size that is not larger.
fn averaged<const N: usize>(image: PixelView<'_>, part: Area, (width, height): (usize, usize)) -> [Plane; N] {
    let columns = Spans::new(part.width(), width);
    let rows = Spans::new(part.height(), height);
    let mut planes: [Plane; N] =
        std::array::from_fn(|_| Plane { width, height, values: vec![0.0; width * height] });
    let mut sums = vec![0.0; part.width() * N];
    // The last span may reach beyond the row with weights of 0, so the row has extra values at its end.
    let mut row = vec![0.0; part.width() + columns.n_taps];
    for (y, (first, weights)) in rows.iter().enumerate() {
        sums.fill(0.0);
        for (source_y, weight) in (part.top + first..part.bottom).zip(weights) {
            let weight = weight / 255.0;
            for (sum, &byte) in sums.iter_mut().zip(source_row(image, part, source_y)) {
                *sum += weight * f32::from(byte);
            }
        }
        for (channel, plane) in planes.iter_mut().enumerate() {
            for (value, pixel) in row.iter_mut().zip(sums.as_chunks::<N>().0) {
                *value = pixel[channel];
            }
            columns.average(&row, &mut plane.values[y * width..(y + 1) * width]);
        }
    }
    planes
}

/// For each target pixel, the source pixels that it covers and their weights, which sum to 1.
struct Spans {
    /// For each target pixel, its first source pixel.
    first: Vec<usize>,
    /// `n_taps` weights for each target pixel.
    weights: Vec<f32>,
    n_taps: usize,
}

impl Spans {
    fn new(source: usize, target: usize) -> Self {
        let step = source as f64 / target as f64;
        let n_taps = if source == target { 1 } else { step.ceil() as usize + 1 };
        let mut first = Vec::with_capacity(target);
        let mut weights = vec![0.0; target * n_taps];
        for (i, weights) in weights.chunks_exact_mut(n_taps).enumerate() {
            let (from, to) = (i as f64 * step, ((i + 1) as f64 * step).min(source as f64));
            let start = (from as usize).min(source - 1);
            for (at, weight) in (start..source).zip(weights) {
                let covered = ((at + 1) as f64).min(to) - (at as f64).max(from);
                *weight = (covered.max(0.0) / (to - from)) as f32;
            }
            first.push(start);
        }
        Self { first, weights, n_taps }
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &[f32])> {
        self.first.iter().copied().zip(self.weights.chunks_exact(self.n_taps))
    }

    /// Averages one row.
    fn average(&self, row: &[f32], target: &mut [f32]) {
        match self.n_taps {
            1 => self.average_by::<1>(row, target),
            2 => self.average_by::<2>(row, target),
            3 => self.average_by::<3>(row, target),
            4 => self.average_by::<4>(row, target),
            5 => self.average_by::<5>(row, target),
            _ => {
                for (mean, (first, weights)) in target.iter_mut().zip(self.iter()) {
                    *mean = weights.iter().zip(&row[first..]).map(|(weight, value)| weight * value).sum();
                }
            }
        }
    }

    /// [`Self::average`] for a number of taps that the compiler knows, which is faster.
    fn average_by<const TAPS: usize>(&self, row: &[f32], target: &mut [f32]) {
        let taps = self.first.iter().zip(self.weights.as_chunks::<TAPS>().0);
        for (mean, (first, weights)) in target.iter_mut().zip(taps) {
            let values = &row[*first..first + TAPS];
            *mean = weights.iter().zip(values).map(|(weight, value)| weight * value).sum();
        }
    }
}
