//! Computes each pixel's contrast against the paper: 0 on paper, and larger for stronger ink.
//!
//! The paper field is the brightness that the paper has, or would have, at each point. It is a grey closing
//! (for dark ink) or opening (for light ink) at low resolution, as in Serra, *Image Analysis and Mathematical
//! Morphology* (1982). It follows the lighting and the edges of shadows, but no mark that is narrower than
//! its window.

use super::{morphology::close, plane::Plane, shrink::Channels};

/// Cells along the longest side of the grid on which the paper is estimated.
const GRID: usize = 40;
/// Half of the morphological window, as a share of the geometric mean of the grid's sides.
const REACH: f32 = 0.18;
/// The same for a smaller window. Strokes are narrower than it; the paper between them is not.
const THIN: f32 = 0.08;
/// The weight of thin marks in the decision on polarity.
const THIN_WEIGHT: f32 = 3.0;
/// The picture is smoothed if its noise is above this share of its contrast.
const NOISY: f32 = 0.06;

/// The contrast of each pixel (in colour units along the ink direction, relative to the paper's brightness),
/// and the standard deviation of the noise in the same unit.
pub(super) struct Contrast {
    pub plane: Plane,
    pub noise: f32,
}

/// Computes the contrast of a reduced picture against its paper.
pub(super) fn contrast(channels: Channels) -> Contrast {
    let mut grey = match channels {
        Channels::Grey(grey) => grey,
        Channels::Rgb(planes) => project(&planes, ink_direction(&planes)),
    };
    let mut noise = noise_level(&grey);
    let grid = reduce(&grey);
    let range = spread(&grid.values);
    if noise > NOISY * range && grey.width >= 24 && grey.height >= 24 {
        smooth(&mut grey);
        // The mean of nine independent values would divide by 3, but the noise of JPEG is not independent.
        noise /= 2.5;
    }
    let dark = Field::new(&grid, 1.0);
    let light = Field::new(&grid, -1.0);
    let field = if light.doubt < dark.doubt { light } else { dark };
    subtract(&mut grey, &field);
    Contrast { plane: grey, noise }
}

/// The colour direction in which neighbouring pixels differ most, with absolute components that sum to 1. It
/// is the dominant eigenvector of the covariance of the differences, in which large differences have more
/// weight.
fn ink_direction(planes: &[Plane; 3]) -> [f32; 3] {
    let (width, height) = (planes[0].width, planes[0].height);
    let step = (width.max(height) / 40).max(1);
    let stride = if width * height > 4096 { 2 } else { 1 };
    // The six different entries of the symmetric covariance matrix: rr, rg, rb, gg, gb, bb.
    let mut sums = [0.0_f32; 6];
    let mut add = |here: [&[f32]; 3], there: [&[f32]; 3]| {
        let pairs = here[0].iter().zip(there[0]).zip(here[1].iter().zip(there[1]));
        let pairs = pairs.zip(here[2].iter().zip(there[2])).step_by(stride);
        for (((r, to_r), (g, to_g)), (b, to_b)) in pairs {
            let d = [to_r - r, to_g - g, to_b - b];
            let squares = [d[0] * d[0], d[1] * d[1], d[2] * d[2]];
            let weight = squares[0] + squares[1] + squares[2];
            let products = [squares[0], d[0] * d[1], d[0] * d[2], squares[1], d[1] * d[2], squares[2]];
            for (sum, product) in sums.iter_mut().zip(products) {
                *sum += weight * product;
            }
        }
    };
    let row = |y: usize| planes.each_ref().map(|plane| &plane.values[y * width..(y + 1) * width]);
    for y in (0..height).step_by(stride) {
        let here = row(y);
        if step < width {
            add(here, here.map(|values| &values[step..]));
        }
        if y + step < height {
            add(here, row(y + step));
        }
    }
    let [rr, rg, rb, gg, gb, bb] = sums;
    dominant(&[[rr, rg, rb], [rg, gg, gb], [rb, gb, bb]])
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

fn project([red, green, blue]: &[Plane; 3], [r, g, b]: [f32; 3]) -> Plane {
    let values = red.values.iter().zip(&green.values).zip(&blue.values);
    let values = values.map(|((red, green), blue)| r * red + g * green + b * blue).collect();
    Plane { width: red.width, height: red.height, values }
}

/// The standard deviation of the noise, estimated from the median absolute second difference along rows.
fn noise_level(grey: &Plane) -> f32 {
    // Non-negative floats have the same order as their bits, and the bits compare faster.
    let mut grain: Vec<u32> = Vec::with_capacity(grey.values.len());
    for row in grey.values.chunks_exact(grey.width).step_by(if grey.height > 48 { 3 } else { 1 }) {
        let neighbours = row.iter().zip(row.iter().skip(1)).zip(row.iter().skip(2));
        grain.extend(neighbours.map(|((a, b), c)| (b - 0.5 * (a + c)).abs().to_bits()));
    }
    if grain.is_empty() {
        return 0.0;
    }
    let middle = grain.len() / 2;
    let (_, median, _) = grain.select_nth_unstable(middle);
    // The median absolute value of a normal variable is 0.6745 sigma; the second difference has 1.5 times the
    // variance.
    f32::from_bits(*median) / (0.6745 * 1.5_f32.sqrt())
}

/// The means of square cells, of which there are at most [`GRID`] along the longest side.
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

/// The difference between the 98th and the 2nd percentile.
fn spread(values: &[f32]) -> f32 {
    let mut values = values.to_vec();
    let rank = (values.len() - 1) / 50;
    let (_, low, above) = values.select_nth_unstable_by(rank, f32::total_cmp);
    let low = *low;
    // The high percentile has the same rank from the other end.
    let n_above = above.len();
    if n_above <= rank {
        return 0.0;
    }
    let (_, high, _) = above.select_nth_unstable_by(n_above - 1 - rank, f32::total_cmp);
    *high - low
}

/// Replaces each pixel by the mean of its 3 x 3 neighbourhood. In the first and the last column, the mean is
/// taken vertically only; the first and the last row stay unchanged.
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

/// The paper field on the grid, under one assumption about the polarity.
struct Field {
    paper: Plane,
    /// +1 if ink is darker than the paper, -1 if it is lighter.
    sign: f32,
    /// How badly the assumption fits. Marks along the image's edge and uneven paper raise it; thin marks
    /// lower it.
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
        let doubt = marks(&paper) + edge / n_edge + unevenness - THIN_WEIGHT * thin;
        for value in &mut paper.values {
            *value *= sign;
        }
        Self { paper, sign, doubt }
    }
}

/// Replaces each pixel by the paper field minus the pixel, so that ink is positive. The field is interpolated
/// bilinearly. For dark ink, the difference is divided by the paper's brightness, so that ink in a shadow
/// counts as much as ink in the light.
fn subtract(grey: &mut Plane, field: &Field) {
    let (width, height) = (grey.width, grey.height);
    let grid = &field.paper;
    let darkest = grid.values.iter().copied().fold(f32::MAX, f32::min);
    let is_relative = field.sign > 0.0 && darkest > 0.12;
    let columns = positions(width, grid.width);
    let mut wide = Vec::with_capacity(width * grid.height);
    for row in grid.values.chunks_exact(grid.width) {
        wide.extend(columns.iter().map(|&(left, right, share)| mix(row[left], row[right], share)));
    }
    let rows = grey.values.chunks_exact_mut(width).zip(positions(height, grid.height));
    for (row, (top, bottom, share)) in rows {
        let (upper, lower) = (&wide[top * width..][..width], &wide[bottom * width..][..width]);
        let papers = upper.iter().zip(lower).map(|(upper, lower)| mix(*upper, *lower, share));
        let pixels = row.iter_mut().zip(papers);
        if is_relative {
            pixels.for_each(|(value, paper)| *value = (paper - *value).max(0.0) / paper);
        } else {
            pixels.for_each(|(value, paper)| *value = (field.sign * (paper - *value)).max(0.0));
        }
    }
}

/// Linear interpolation from `a` to `b`.
fn mix(a: f32, b: f32, share: f32) -> f32 {
    a + share * (b - a)
}

/// For each pixel, the two nearest cells and the weight of the second one.
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
