//! A part of an RGB image in, the same part area-averaged to at most a given side out.

use super::{plane::Area, view::RgbView};

/// RGB values 0.0 ..= 1.0, interleaved, row-major: `width * height * 3` of them.
pub(super) struct Colours {
    pub width: usize,
    pub height: usize,
    pub values: Vec<f32>,
}

/// Area-averages `part` of the image so that no side exceeds `max_side`; never enlarges.
pub(super) fn shrink(image: RgbView<'_>, part: Area, max_side: usize) -> Colours {
    let longest = part.longest();
    let fit = |side: usize| {
        if longest <= max_side { side } else { ((side * max_side + longest / 2) / longest).max(1) }
    };
    let (width, height) = (fit(part.width()), fit(part.height()));
    if width == part.width() && height == part.height() {
        return copy(image, part);
    }
    let columns = spans(part.left, part.width(), width);
    let rows = spans(part.top, part.height(), height);
    let mut values = vec![0.0; width * height * 3];
    let mut averaged = vec![0.0; image.width * 3];
    for (target, row) in values.chunks_exact_mut(width * 3).zip(&rows) {
        averaged.fill(0.0);
        for y in row.first..row.end {
            let weight = row.weight(y) / 255.0;
            for (sum, &byte) in averaged.iter_mut().zip(source_row(image, y)) {
                *sum += weight * f32::from(byte);
            }
        }
        average_columns(&averaged, &columns, target);
    }
    Colours { width, height, values }
}

fn source_row(image: RgbView<'_>, y: usize) -> &[u8] {
    &image.pixels[y * image.width * 3..(y + 1) * image.width * 3]
}

fn copy(image: RgbView<'_>, part: Area) -> Colours {
    let mut values = Vec::with_capacity(part.width() * part.height() * 3);
    for y in part.top..part.bottom {
        let row = &source_row(image, y)[part.left * 3..part.right * 3];
        values.extend(row.iter().map(|&byte| f32::from(byte) / 255.0));
    }
    Colours { width: part.width(), height: part.height(), values }
}

/// The source pixels under one target pixel; the first and the last may be covered in part.
struct Span {
    first: usize,
    end: usize,
    inner: f32,
    head: f32,
    tail: f32,
}

impl Span {
    /// This source pixel's share of the target pixel; shares sum to one.
    fn weight(&self, at: usize) -> f32 {
        if at == self.first {
            self.head
        } else if at + 1 == self.end {
            self.tail
        } else {
            self.inner
        }
    }
}

fn spans(offset: usize, source: usize, target: usize) -> Vec<Span> {
    let step = source as f64 / target as f64;
    (0..target)
        .map(|i| {
            let (from, to) = (i as f64 * step, ((i + 1) as f64 * step).min(source as f64));
            let first = (from as usize).min(source - 1);
            let end = (to.ceil() as usize).clamp(first + 1, source);
            let length = to - from;
            let head = ((first + 1) as f64).min(to) - from;
            let tail = to - (end - 1) as f64;
            Span {
                first: offset + first,
                end: offset + end,
                inner: (1.0 / length) as f32,
                head: if end == first + 1 { 1.0 } else { (head / length) as f32 },
                tail: (tail / length) as f32,
            }
        })
        .collect()
}

fn average_columns(row: &[f32], columns: &[Span], target: &mut [f32]) {
    for (mean, span) in target.chunks_exact_mut(3).zip(columns) {
        let mut sum = [0.0_f32; 3];
        for (at, pixel) in row[span.first * 3..span.end * 3].chunks_exact(3).enumerate() {
            let weight = span.weight(span.first + at);
            for (total, value) in sum.iter_mut().zip(pixel) {
                *total += weight * value;
            }
        }
        mean.copy_from_slice(&sum);
    }
}
