//! Reduces a part of a picture to a given size by area averaging. The result has one channel if the part is
//! grey, and three if it has colour.
//!
//! The averages are computed with integers of 16 bits: eight fit into a vector register of every x86-64
//! processor.

use super::{
    plane::{Area, BLOCK, Line, MAX_SIDE, side_by_side},
    view::PixelView,
};

/// A part of a picture, reduced to at most [`MAX_SIDE`] pixels a side.
pub(super) struct Shrunk {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) channels: Channels,
}

impl Shrunk {
    /// Changes each channel, column by column.
    pub(super) fn each_channel(&mut self, change: impl Fn(&mut [Line<u16>])) {
        match &mut self.channels {
            Channels::Grey(columns) => change(columns),
            Channels::Rgb(channels) => channels.iter_mut().for_each(|columns| change(columns)),
        }
    }
}

/// The values of each channel, 0 ..= [`WHITE`], column by column.
pub(super) enum Channels {
    Grey(Vec<Line<u16>>),
    Rgb([Vec<Line<u16>>; 3]),
}

/// The value of a byte of 255.
pub(super) const WHITE: f32 = 65535.0;

/// Area-averages `part` of the image so that no side is longer than [`MAX_SIDE`]. A smaller part keeps its
/// size.
pub(super) fn shrink(image: PixelView<'_>, part: Area) -> Shrunk {
    let longest = part.longest();
    let fit = |side: usize| {
        if longest <= MAX_SIDE { side } else { ((side * MAX_SIDE + longest / 2) / longest).max(1) }
    };
    let size = (fit(part.width()), fit(part.height()));
    let channels = if image.n_channels == 1 {
        let [grey] = averaged::<1, 1>(image, part, size);
        Channels::Grey(grey)
    } else if (part.top..part.bottom).all(|y| is_grey(source_row(image, part, y))) {
        let [grey] = averaged::<3, 1>(image, part, size);
        Channels::Grey(grey)
    } else {
        Channels::Rgb(averaged::<3, 3>(image, part, size))
    };
    Shrunk { width: size.0, height: size.1, channels }
}

/// Whether all three channels are equal in every pixel of an RGB row.
fn is_grey(row: &[u8]) -> bool {
    /// Bytes that are compared in one step, with a few vector operations: sixteen pixels.
    const BYTES: usize = 48;
    /// Marks the bytes that equal the next byte in a grey row: all but every third one.
    const MASK: [u8; BYTES] = {
        let mut mask = [u8::MAX; BYTES];
        let mut at = 2;
        while at < BYTES {
            mask[at] = 0;
            at += 3;
        }
        mask
    };
    let blocks = row.chunks_exact(BYTES);
    let rest = blocks.remainder();
    let differs = |pixel: &[u8]| pixel[0] != pixel[1] || pixel[1] != pixel[2];
    for (block, at) in blocks.zip((0..).step_by(BYTES)) {
        // The mask ignores every third byte, so the comparison of a block's last byte does not matter.
        let Some(next) = row.get(at + 1..at + 1 + BYTES) else {
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

/// The first `N` of the `OF` channels of `part`, averaged to a size that is not larger.
///
/// Eight output rows are computed at a time. The source rows are averaged into them first. Then the eight
/// values of each column are put side by side, and the columns are averaged.
fn averaged<const OF: usize, const N: usize>(
    image: PixelView<'_>,
    part: Area,
    (width, height): (usize, usize),
) -> [Vec<Line<u16>>; N] {
    let spans = Spans::new(part.width(), width);
    let mut channels: [_; N] = std::array::from_fn(|_| vec![[0; MAX_SIDE]; width]);
    let mut source = SourceRow::default();
    let mut rows: [_; BLOCK] = std::array::from_fn(|_| vec![0; part.width() * N]);
    // The last span may reach beyond the row with weights of 0, so there are extra columns at the end.
    let mut columns = vec![[[0; BLOCK]; N]; part.width() + spans.n_taps];
    let spans_of_rows = Spans::new(part.height(), height);
    let mut spans_of_rows = spans_of_rows.iter();
    for block in 0..height.div_ceil(BLOCK) {
        for (row, (first, weights)) in rows.iter_mut().zip(&mut spans_of_rows) {
            let mut is_first = true;
            for (y, &[weight, ..]) in
                (first..part.height()).zip(weights).filter(|(_, [weight, ..])| *weight > 0)
            {
                source.read::<OF, N>(y, source_row(image, part, part.top + y));
                let values = row.iter_mut().zip(&source.values);
                if is_first {
                    values.for_each(|(sum, &value)| *sum = product(value, weight));
                } else {
                    values.for_each(|(sum, &value)| *sum += product(value, weight));
                }
                is_first = false;
            }
        }
        side_by_side(rows.each_ref().map(|row| &row[..]), columns.as_flattened_mut());
        spans.average(&columns, |x, averages| {
            for (channel, averages) in channels.iter_mut().zip(averages) {
                channel[x].as_chunks_mut::<BLOCK>().0[block] = averages;
            }
        });
    }
    channels
}

/// The values of one row of the picture with 16 bits each.
#[derive(Default)]
struct SourceRow {
    y: Option<usize>,
    grey: Vec<u8>,
    values: Vec<u16>,
}

impl SourceRow {
    /// Takes the values of row `y`, unless it has them: neighbouring spans share a row. If the picture has
    /// more channels than the `N` that are wanted, it is grey, and they are all equal.
    fn read<const OF: usize, const N: usize>(&mut self, y: usize, row: &[u8]) {
        if self.y == Some(y) {
            return;
        }
        self.y = Some(y);
        self.values.clear();
        if N == OF {
            self.values.extend(row.iter().copied().map(wide));
        } else {
            self.grey.clear();
            let (blocks, rest) = row.as_chunks::<24>();
            for block in blocks {
                self.grey.extend_from_slice(&first_channel(block));
            }
            self.grey.extend(rest.iter().step_by(3));
            self.values.extend(self.grey.iter().copied().map(wide));
        }
    }
}

/// A byte with 16 bits: 255 becomes 65535.
fn wide(byte: u8) -> u16 {
    u16::from(byte) * 257
}

/// One byte of each of eight grey pixels. A pixel's three bytes are equal, so one is taken that is in its place
/// already, or can be moved there together with others.
fn first_channel(pixels: &[u8; 24]) -> [u8; 8] {
    let word = |at: usize| pixels[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let (first, second, third) = (word(0), word(8), word(16));
    let pixels_0_to_2 = (first & 0xff) | ((first >> 16) & 0xff00) | ((first >> 32) & 0x00ff_0000);
    let pixels_3_to_5 = (second & 0x00ff_ff00_0000) | ((second >> 16) & 0xff00_0000_0000);
    let pixels_6_and_7 = ((third << 16) & 0x00ff_0000_0000_0000) | (third & 0xff00_0000_0000_0000);
    (pixels_0_to_2 | pixels_3_to_5 | pixels_6_and_7).to_le_bytes()
}

/// `weight` / 65536 of a value.
fn product(value: u16, weight: u16) -> u16 {
    ((u32::from(value) * u32::from(weight)) >> 16) as u16
}

/// For each target pixel, the source pixels that it covers and their weights, which sum to 65536 at most.
struct Spans {
    /// For each target pixel, its first source pixel.
    first: Vec<usize>,
    /// `n_taps` weights for each target pixel. Each is there once for each line of a block.
    weights: Vec<[u16; BLOCK]>,
    n_taps: usize,
}

impl Spans {
    fn new(source: usize, target: usize) -> Self {
        // Positions are in units of 1 / target source pixels, which makes them integers.
        let n_taps = if source == target { 1 } else { source.div_ceil(target) + 1 };
        let weight_of_unit = 65536.0 / source as f32;
        let mut first = Vec::with_capacity(target);
        let mut weights = Vec::with_capacity(target * n_taps);
        for from in (0..target).map(|at| at * source) {
            let start = from / target;
            first.push(start);
            weights.extend((start..start + n_taps).map(|at| {
                let (left, right) = (from.max(at * target), (from + source).min((at + 1) * target));
                // A weight of 65536 becomes 65535.
                [(weight_of_unit * right.saturating_sub(left) as f32) as u16; BLOCK]
            }));
        }
        Self { first, weights, n_taps }
    }

    fn iter(&self) -> impl Iterator<Item = (usize, &[[u16; BLOCK]])> {
        self.first.iter().copied().zip(self.weights.chunks_exact(self.n_taps))
    }

    /// Averages columns, and gives each average and its position to `set`.
    fn average<const N: usize>(
        &self,
        columns: &[[[u16; BLOCK]; N]],
        set: impl FnMut(usize, [[u16; BLOCK]; N]),
    ) {
        match self.n_taps {
            2 => self.average_by::<N, 2>(columns, set),
            3 => self.average_by::<N, 3>(columns, set),
            4 => self.average_by::<N, 4>(columns, set),
            _ => self.average_any(columns, set),
        }
    }

    fn average_any<const N: usize>(
        &self,
        columns: &[[[u16; BLOCK]; N]],
        mut set: impl FnMut(usize, [[u16; BLOCK]; N]),
    ) {
        for (x, (first, weights)) in self.iter().enumerate() {
            let mut sums = [[0; BLOCK]; N];
            for (column, weights) in columns[first..].iter().zip(weights) {
                add(&mut sums, column, weights);
            }
            set(x, sums);
        }
    }

    /// [`Self::average`] for a number of taps that the compiler knows, which is faster.
    fn average_by<const N: usize, const TAPS: usize>(
        &self,
        columns: &[[[u16; BLOCK]; N]],
        mut set: impl FnMut(usize, [[u16; BLOCK]; N]),
    ) {
        let taps = self.first.iter().zip(self.weights.as_chunks::<TAPS>().0);
        for (x, (&first, weights)) in taps.enumerate() {
            let Some(columns) = columns[first..].first_chunk::<TAPS>() else { return };
            let mut sums = [[0; BLOCK]; N];
            for (column, weights) in columns.iter().zip(weights) {
                add(&mut sums, column, weights);
            }
            set(x, sums);
        }
    }
}

/// Adds a column times its weight.
fn add<const N: usize>(sums: &mut [[u16; BLOCK]; N], column: &[[u16; BLOCK]; N], weights: &[u16; BLOCK]) {
    for (sums, values) in sums.iter_mut().zip(column) {
        for ((sum, &value), &weight) in sums.iter_mut().zip(values).zip(weights) {
            *sum += product(value, weight);
        }
    }
}
