//! Reduces the colours of a picture to one grey value, along the colour direction in which ink and paper
//! differ most.

use super::{
    plane::{BLOCK, Line, MAX_SIDE, Plane, side_by_side},
    shrink::{Channels, Shrunk, WHITE},
};

/// The grey value of each pixel, 0.0 ..= 1.0 in a picture without colour.
pub(super) fn grey(picture: &Shrunk) -> Plane {
    let scale = 1.0 / WHITE;
    match &picture.channels {
        Channels::Grey(columns) => by_rows(picture, |x, grey| {
            for (grey, &value) in grey.iter_mut().zip(&columns[x]) {
                *grey = scale * f32::from(value);
            }
        }),
        Channels::Rgb(channels) => {
            let [r, g, b] = ink_direction(picture, channels).map(|share| scale * share);
            by_rows(picture, |x, grey| {
                let [reds, greens, blues] = channels.each_ref().map(|columns| &columns[x]);
                for (((grey, &red), &green), &blue) in grey.iter_mut().zip(reds).zip(greens).zip(blues) {
                    *grey = r * f32::from(red) + g * f32::from(green) + b * f32::from(blue);
                }
            })
        }
    }
}

/// The rows of a picture whose columns `column` computes.
fn by_rows(picture: &Shrunk, column: impl Fn(usize, &mut Line<f32>)) -> Plane {
    let mut lines = vec![[0.0; MAX_SIDE]; picture.height];
    let mut columns = [[0.0; MAX_SIDE]; BLOCK];
    let mut parts_of_rows = [[0.0; BLOCK]; MAX_SIDE];
    for left in (0..picture.width).step_by(BLOCK) {
        for (values, x) in columns.iter_mut().zip(left..picture.width) {
            column(x, values);
        }
        side_by_side(columns.each_ref().map(|column| &column[..]), &mut parts_of_rows);
        for (line, part) in lines.iter_mut().zip(&parts_of_rows) {
            line.as_chunks_mut::<BLOCK>().0[left / BLOCK] = *part;
        }
    }
    Plane { width: picture.width, lines }
}

/// The colour direction in which neighbouring pixels differ most, with absolute components that sum to 1. It
/// is the dominant eigenvector of the covariance of the differences, in which large differences have more
/// weight.
fn ink_direction(picture: &Shrunk, channels: &[Vec<Line<u16>>; 3]) -> [f32; 3] {
    let (width, height) = (picture.width, picture.height);
    let sums = if width * height > 4096 {
        covariance::<2>(channels, width, height)
    } else {
        covariance::<1>(channels, width, height)
    };
    let [rr, rg, rb, gg, gb, bb] = sums;
    dominant(&[[rr, rg, rb], [rg, gg, gb], [rb, gb, bb]])
}

/// The different entries of the symmetric covariance matrix of the differences: rr, rg, rb, gg, gb, bb. Only
/// every `STRIDE`th row and column is used.
fn covariance<const STRIDE: usize>(channels: &[Vec<Line<u16>>; 3], width: usize, height: usize) -> [f32; 6] {
    let step = (width.max(height) / 40).max(1);
    let mut sums = [[0.0; LANES]; 6];
    for x in (0..width).step_by(STRIDE) {
        let here = channels.each_ref().map(|columns| &columns[x]);
        if x + step < width {
            let there = channels.each_ref().map(|columns| &columns[x + step][..]);
            add::<STRIDE>(&mut sums, here, there, height);
        }
        if step < height {
            let below = here.map(|column| &column[step..]);
            add::<STRIDE>(&mut sums, here, below, height - step);
        }
    }
    sums.map(|lanes| lanes.iter().sum())
}

/// Sums are computed in so many parts, which the compiler turns into vector additions.
const LANES: usize = 4;

/// Adds the products of the differences between the first `n` pixels of two columns.
fn add<const STRIDE: usize>(
    sums: &mut [[f32; LANES]; 6],
    here: [&Line<u16>; 3],
    there: [&[u16]; 3],
    n: usize,
) {
    let mut differences = [[0.0; MAX_SIDE]; 3];
    let n = n.div_ceil(STRIDE);
    for ((differences, here), there) in differences.iter_mut().zip(here).zip(there) {
        let difference = |here: u16, there: u16| (f32::from(there) - f32::from(here)) * (1.0 / WHITE);
        let (groups, rest) = there.as_chunks::<STRIDE>();
        for ((to, here), there) in differences.iter_mut().zip(here.as_chunks::<STRIDE>().0).zip(groups) {
            *to = difference(here[0], there[0]);
        }
        if let Some(&there) = rest.first() {
            differences[groups.len()] = difference(here[groups.len() * STRIDE], there);
        }
        differences[n..].fill(0.0);
    }
    let [reds, greens, blues] = &differences;
    let (reds, greens, blues) =
        (reds.as_chunks::<LANES>().0, greens.as_chunks::<LANES>().0, blues.as_chunks::<LANES>().0);
    let mut added = *sums;
    for ((r, g), b) in reds.iter().zip(greens).zip(blues).take(n.div_ceil(LANES)) {
        for lane in 0..LANES {
            let (r, g, b) = (r[lane], g[lane], b[lane]);
            let weight = r * r + g * g + b * b;
            let (weighted_r, weighted_g) = (weight * r, weight * g);
            let products = [
                weighted_r * r,
                weighted_r * g,
                weighted_r * b,
                weighted_g * g,
                weighted_g * b,
                weight * b * b,
            ];
            for (sums, product) in added.iter_mut().zip(products) {
                sums[lane] += product;
            }
        }
    }
    *sums = added;
}

/// The dominant eigenvector by power iteration. It starts from grey, so that a picture without colour stays
/// grey.
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
