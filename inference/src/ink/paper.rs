//! Computes each pixel's contrast against the paper: 0 on paper, and larger for stronger ink.
//!
//! The paper field is the brightness that the paper has, or would have, at each point. It is a grey closing
//! (for dark ink) or opening (for light ink) at low resolution, as in Serra, *Image Analysis and Mathematical
//! Morphology* (1982). It follows the lighting and the edges of shadows, but no mark that is narrower than
//! its window.

use super::{
    morphology::{Grid, MAX_CELLS},
    noise::Noise,
    plane::{Line, MAX_SIDE, Plane, sum},
};

/// Half of the morphological window, as a share of the geometric mean of the grid's sides.
const REACH: f32 = 0.18;
/// The same for a smaller window. Strokes are narrower than it; the paper between them is not.
const THIN: f32 = 0.08;
/// The weight of thin marks in the decision on polarity.
const THIN_WEIGHT: f32 = 3.0;
/// The picture is smoothed if its noise is above this share of its contrast.
const NOISY: f32 = 0.06;
/// Less noise than this is the rounding of the averages.
const MIN_NOISE: f32 = 1e-4;
/// The value in a [`Grid`] of a brightness of 1.0.
const GRID_WHITE: f32 = 32000.0;

/// The contrast of each pixel (in colour units along the ink direction, relative to the paper's brightness),
/// and the noise in the same unit.
pub(super) struct Contrast {
    pub(super) plane: Plane,
    pub(super) noise: Noise,
}

/// Computes the contrast of a picture against its paper.
pub(super) fn contrast(grey: Plane) -> Contrast {
    // The cell is at most 4, because no side is longer than MAX_SIDE.
    match grey.width.max(grey.height()).div_ceil(MAX_CELLS) {
        1 => contrast_by::<1>(grey),
        2 => contrast_by::<2>(grey),
        3 => contrast_by::<3>(grey),
        _ => contrast_by::<4>(grey),
    }
}

const _: () = assert!(MAX_SIDE.div_ceil(MAX_CELLS) == 4);

/// [`contrast`] with a paper field of square cells with sides of `CELL` pixels.
fn contrast_by<const CELL: usize>(mut grey: Plane) -> Contrast {
    let mut noise = Noise::of(&grey);
    let grid = reduce::<CELL>(&grey);
    let is_large = grey.width >= 24 && grey.height() >= 24;
    if is_large && noise.is_above(MIN_NOISE) && noise.is_above(NOISY * spread(&grid)) {
        smooth(&mut grey);
        // The mean of nine independent values would divide by 3, but the noise of JPEG is not independent.
        noise.divide(2.5);
    }
    let dark = Field::new(&grid, Ink::Dark);
    let light = Field::new(&grid, Ink::Light);
    subtract::<CELL>(&mut grey, if light.doubt < dark.doubt { &light } else { &dark });
    Contrast { plane: grey, noise }
}

/// The mean brightness of each cell.
fn reduce<const CELL: usize>(grey: &Plane) -> Grid {
    let lines = grey.lines.chunks(CELL).map(|lines| {
        let mut sums = [0.0; MAX_SIDE];
        for line in lines {
            for (sum, value) in sums.iter_mut().zip(line) {
                *sum += value;
            }
        }
        let scale = GRID_WHITE / (CELL * lines.len()) as f32;
        let (whole, part) = sums[..grey.width].as_chunks::<CELL>();
        let mut cells = [0; MAX_CELLS];
        for (cell, sums) in cells.iter_mut().zip(whole) {
            *cell = (scale * sums.iter().sum::<f32>()) as i16;
        }
        if !part.is_empty() {
            let scale = GRID_WHITE / (part.len() * lines.len()) as f32;
            cells[whole.len()] = (scale * part.iter().sum::<f32>()) as i16;
        }
        cells
    });
    Grid { width: grey.width.div_ceil(CELL), lines: lines.collect() }
}

/// The difference between the 98th and the 2nd percentile.
fn spread(grid: &Grid) -> f32 {
    let mut values: Vec<i16> = grid.rows().flatten().copied().collect();
    let rank = (values.len() - 1) / 50;
    let (_, low, above) = values.select_nth_unstable(rank);
    let low = f32::from(*low);
    // The high percentile has the same rank from the other end.
    let n_above = above.len();
    if n_above <= rank {
        return 0.0;
    }
    let (_, high, _) = above.select_nth_unstable(n_above - 1 - rank);
    (f32::from(*high) - low) / GRID_WHITE
}

/// Replaces each pixel by the mean of its 3 x 3 neighbourhood. In the first and the last column, the mean is
/// taken vertically only; the first and the last row stay unchanged.
fn smooth(grey: &mut Plane) {
    let width = grey.width;
    let across = |line: &Line<f32>| {
        let mut means = *line;
        for (mean, neighbours) in means[1..].iter_mut().zip(line[..width].windows(3)) {
            *mean = (neighbours[0] + neighbours[1] + neighbours[2]) / 3.0;
        }
        means
    };
    let mut means = [across(&grey.lines[0]), across(&grey.lines[1])];
    for y in 1..grey.height() - 1 {
        let below = across(&grey.lines[y + 1]);
        let [above, here] = means;
        for (((value, above), here), below) in grey.lines[y].iter_mut().zip(above).zip(here).zip(below) {
            *value = (above + here + below) / 3.0;
        }
        means = [here, below];
    }
}

/// Whether ink is darker or lighter than the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ink {
    Dark,
    Light,
}

/// The paper field on the grid, under one assumption about the polarity.
struct Field {
    paper: Grid,
    ink: Ink,
    /// How badly the assumption fits. Marks along the image's edge and uneven paper raise it; thin marks
    /// lower it.
    doubt: f32,
}

impl Field {
    fn new(grid: &Grid, ink: Ink) -> Self {
        let n = (grid.width * grid.height()) as f32;
        let without_marks = |share: f32| {
            let reach = (share * n.sqrt()).round().max(1.0) as usize;
            match ink {
                Ink::Dark => grid.closed(reach),
                Ink::Light => grid.opened(reach),
            }
        };
        let total = |grid: &Grid| sum(grid.rows(), f32::from);
        let marks = |paper: &Grid| (total(paper) - total(grid)).abs() / n;
        let paper = without_marks(REACH);
        let thin = marks(&without_marks(THIN));
        let mean = total(&paper) / n;
        let variance = sum(paper.rows(), |v| (f32::from(v) - mean) * (f32::from(v) - mean)) / n;
        let doubt = marks(&paper) + marks_at_edge(grid, &paper) + variance.sqrt() - THIN_WEIGHT * thin;
        Self { paper, ink, doubt }
    }
}

/// The mean difference between paper and picture along the grid's edge.
fn marks_at_edge(grid: &Grid, paper: &Grid) -> f32 {
    let (width, height) = (grid.width, grid.height());
    let (mut sum, mut n) = (0, 0.0);
    for (y, (values, papers)) in grid.rows().zip(paper.rows()).enumerate() {
        // The first and the last row are at the edge, and the first and the last cell of all others.
        let step = if y == 0 || y + 1 == height { 1 } else { (width - 1).max(1) };
        for (value, paper) in values.iter().zip(papers).step_by(step) {
            sum += (i32::from(*paper) - i32::from(*value)).abs();
            n += 1.0;
        }
    }
    sum as f32 / n
}

/// Replaces each pixel by the paper field minus the pixel, so that ink is positive. The field is interpolated
/// bilinearly. For dark ink, the difference is divided by the paper's brightness, so that ink in a shadow
/// counts as much as ink in the light.
fn subtract<const CELL: usize>(grey: &mut Plane, field: &Field) {
    let wide: Vec<Line<f32>> = field.paper.rows().map(interpolated::<CELL>).collect();
    let darkest = field.paper.rows().flatten().min().map_or(0.0, |&v| f32::from(v) / GRID_WHITE);
    let is_relative = field.ink == Ink::Dark && darkest > 0.12;
    let last = (wide.len() - 1) as f32;
    for (y, line) in grey.lines.iter_mut().enumerate() {
        let at = ((y as f32 + 0.5) / CELL as f32 - 0.5).clamp(0.0, last);
        let share = at.fract();
        let (upper, lower) = (&wide[at as usize], &wide[at.ceil() as usize]);
        let papers = upper.iter().zip(lower).map(|(upper, lower)| mix(*upper, *lower, share));
        let pixels = line.iter_mut().zip(papers);
        match field.ink {
            Ink::Dark if is_relative => {
                pixels.for_each(|(value, paper)| *value = positive(paper - *value) / paper);
            }
            Ink::Dark => pixels.for_each(|(value, paper)| *value = (paper - *value).max(0.0)),
            Ink::Light => pixels.for_each(|(value, paper)| *value = (*value - paper).max(0.0)),
        }
    }
}

/// The brightness of the paper at each pixel of a row, interpolated between the cells' centres.
fn interpolated<const CELL: usize>(cells: &[i16]) -> Line<f32> {
    let brightness = |cell: &i16| f32::from(*cell) * (1.0 / GRID_WHITE);
    // The centre of an odd number of pixels is one of them, and the centre of an even number lies between two.
    let first = if CELL % 2 == 1 { 0.0 } else { 0.5 };
    let shares: [f32; CELL] = std::array::from_fn(|at| (at as f32 + first) / CELL as f32);
    let mut line = [cells.last().map_or(0.0, brightness); MAX_SIDE];
    let (start, between) = line.split_at_mut(CELL / 2);
    start.fill(cells.first().map_or(0.0, brightness));
    for (values, pair) in between.as_chunks_mut::<CELL>().0.iter_mut().zip(cells.windows(2)) {
        let (left, right) = (brightness(&pair[0]), brightness(&pair[1]));
        for (value, share) in values.iter_mut().zip(shares) {
            *value = mix(left, right, share);
        }
    }
    line
}

/// The value, or 0 if it is negative. Unlike `f32::max`, it is one instruction.
fn positive(value: f32) -> f32 {
    if value > 0.0 { value } else { 0.0 }
}

/// Linear interpolation from `a` to `b`.
fn mix(a: f32, b: f32, share: f32) -> f32 {
    a + share * (b - a)
}
