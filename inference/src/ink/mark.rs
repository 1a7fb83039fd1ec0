//! Turns contrast into ink coverage, removes what is not a character, and finds the ink's bounding box.

use super::{
    paper::Contrast,
    plane::{Area, Line, MAX_SIDE, Plane, sums},
};

/// The error of an image without a character: a blank page, or a single colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoInk;

impl std::fmt::Display for NoInk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("no ink was found in the image")
    }
}

impl std::error::Error for NoInk {}

/// The lowest contrast against the paper that counts as ink.
const MIN_CONTRAST: f32 = 0.05;
/// The lowest contrast of ink in standard deviations of the noise.
const MIN_CONTRAST_TO_NOISE: f32 = 4.0;
/// Coverage rises from 0 to 1 between these shares of the ink's contrast.
const SOFT: (f32, f32) = (0.28, 0.62);
/// A component with fewer pixels than this share of the largest one is a speck.
pub(super) const SPECK: f32 = 0.008;
/// The ink of a picture.
pub(super) struct Ink {
    /// Its bounding box in the reduced picture.
    pub(super) area: Area,
    /// The coverage of the pixels in the box, 0.0 ..= 1.0: column by column, each from the box's top.
    pub(super) columns: Vec<Line<f32>>,
    /// Whether what was found may be something around the character, and not the character.
    pub(super) may_be_surroundings: bool,
}

/// Finds the ink and computes its coverage.
///
/// # Errors
/// [`NoInk`] when nothing stands out from the paper, or only specks and ruled lines do.
pub(super) fn ink(Contrast { plane, noise }: &Contrast) -> Result<Ink, NoInk> {
    let level = ink_level(plane);
    if level < MIN_CONTRAST || noise.is_above(level / MIN_CONTRAST_TO_NOISE) {
        return Err(NoInk);
    }
    let coverage = Coverage { low: SOFT.0 * level, slope: 1.0 / ((SOFT.1 - SOFT.0) * level) };
    let components = Components::of(plane, coverage);
    let kept = components.kept(plane);
    let area = components.bounds(&kept).ok_or(NoInk)?;
    let columns = components.only(plane, coverage, &kept, area);
    Ok(Ink { area, columns, may_be_surroundings: components.may_be_surroundings(plane) })
}

/// How coverage grows with contrast.
#[derive(Clone, Copy)]
struct Coverage {
    /// The contrast above which it grows from 0.
    low: f32,
    /// How much it grows with each unit of contrast.
    slope: f32,
}

impl Coverage {
    fn of(self, contrast: f32) -> f32 {
        ((contrast - self.low) * self.slope).clamp(0.0, 1.0)
    }

    /// The pixels of a row whose coverage is at least one half: one bit for each, the first pixel's lowest.
    fn halves(self, row: &Line<f32>, width: usize) -> u128 {
        let half = self.low + 0.5 / self.slope;
        let mut marked = [0; MAX_SIDE];
        for (marked, &contrast) in marked.iter_mut().zip(row) {
            *marked = u8::from(contrast >= half);
        }
        let mut bits = 0;
        for (eight, at) in marked.as_chunks::<8>().0.iter().zip((0..).step_by(8)) {
            // The multiplication moves the lowest bits of eight bytes into the highest byte.
            let byte = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            bits |= u128::from(byte) << at;
        }
        bits & (u128::MAX >> (MAX_SIDE - width))
    }
}

/// The contrast of full ink: the mean of all values above 0.6 of the contraharmonic mean. A few dark pixels
/// determine the contraharmonic mean, whatever the size of the paper.
fn ink_level(plane: &Plane) -> f32 {
    let (squares, cubes) = sums(plane.rows(), |v| (v * v, v * v * v));
    if squares <= f32::MIN_POSITIVE {
        return 0.0;
    }
    let bound = 0.6 * cubes / squares;
    let (n, total) = sums(plane.rows(), |v| if v >= bound { (1.0, v) } else { (0.0, 0.0) });
    if n > 0.0 { total / n } else { 0.0 }
}

/// The runs of set bits, from the lowest bit on.
fn runs(mut bits: u128) -> impl Iterator<Item = (usize, usize)> {
    std::iter::from_fn(move || {
        let start = (bits != 0).then(|| bits.trailing_zeros())?;
        let n = (!(bits >> start)).trailing_zeros();
        let end = start + n;
        bits &= u128::MAX.checked_shl(end).unwrap_or(0);
        Some((start as usize, end as usize))
    })
}

/// Connected components (with eight neighbours) of the pixels whose coverage is at least one half.
pub(super) struct Components {
    /// The runs of such pixels within the rows, from top to bottom.
    pub(super) runs: Vec<Run>,
    /// For each row, the index of its first run. One more entry marks the end.
    pub(super) rows: Vec<usize>,
    pub(super) list: Vec<Component>,
}

/// Adjacent pixels in one row.
pub(super) struct Run {
    pub(super) start: usize,
    pub(super) end: usize,
    /// The index of the component that the run is part of.
    pub(super) component: usize,
}

pub(super) struct Component {
    pub(super) n_pixels: usize,
    /// The sum of the pixels' coverage.
    coverage: f32,
    pub(super) area: Area,
}

impl Component {
    /// Mean coverage, 0.5 ..= 1.0.
    pub(super) fn mean(&self) -> f32 {
        self.coverage / self.n_pixels as f32
    }

    fn add(&mut self, other: &Self) {
        self.n_pixels += other.n_pixels;
        self.coverage += other.coverage;
        self.area = self.area.union(other.area);
    }
}

impl Run {
    /// One bit for each pixel of the row, which is set in the run.
    pub(super) fn bits(&self) -> u128 {
        (u128::MAX >> (MAX_SIDE - (self.end - self.start))) << self.start
    }
}

impl Components {
    /// Labels connected components. The algorithm joins runs that touch runs of the row above, as in
    /// Rosenfeld and Pfaltz, "Sequential Operations in Digital Picture Processing" (1966), which uses pixels
    /// instead of runs.
    fn of(plane: &Plane, coverage: Coverage) -> Self {
        let mut all: Vec<Run> = Vec::new();
        let mut rows = vec![0];
        let mut list: Vec<Component> = Vec::new();
        // For each label: the label itself, or an earlier label of the same component.
        let mut labels: Vec<usize> = Vec::new();
        let mut above = 0..0;
        for (y, line) in plane.lines.iter().enumerate() {
            let mut next_above = above.start;
            for (start, end) in runs(coverage.halves(line, plane.width)) {
                let area = Area { left: start, top: y, right: end, bottom: y + 1 };
                let sum = line[start..end].iter().map(|&contrast| coverage.of(contrast)).sum();
                let run = Component { n_pixels: end - start, coverage: sum, area };
                // A run above that ends before this run begins cannot touch a later run either.
                while next_above < above.end && all[next_above].end < start {
                    next_above += 1;
                }
                let touching = all[next_above..above.end].iter().take_while(|r| r.start <= end);
                let touching = touching.map(|r| r.component);
                let component = touching.clone().map(|label| first(&labels, label)).min();
                let component = component.unwrap_or_else(|| {
                    labels.push(labels.len());
                    list.push(Component { n_pixels: 0, coverage: 0.0, area });
                    labels.len() - 1
                });
                for label in touching {
                    let label = first(&labels, label);
                    labels[label] = component;
                }
                list[component].add(&run);
                all.push(Run { start, end, component });
            }
            above = above.end..all.len();
            rows.push(all.len());
        }
        Self { runs: all, rows, list }.joined(&labels)
    }

    /// Merges the labels of each component, and renumbers the components.
    fn joined(mut self, labels: &[usize]) -> Self {
        let mut list = Vec::<Component>::new();
        let mut indices = vec![0; labels.len()];
        for (label, part) in self.list.into_iter().enumerate() {
            match first(labels, label) {
                own if own == label => {
                    indices[label] = list.len();
                    list.push(part);
                }
                other => {
                    indices[label] = indices[other];
                    list[indices[other]].add(&part);
                }
            }
        }
        for run in &mut self.runs {
            run.component = indices[run.component];
        }
        Self { list, ..self }
    }

    /// For each component, whether it can be part of a character.
    fn kept(&self, plane: &Plane) -> Vec<bool> {
        let paper = self.of_paper(plane);
        let largest = self
            .list
            .iter()
            .zip(&paper)
            .filter(|(_, paper)| !**paper)
            .map(|(component, _)| component.n_pixels)
            .max()
            .unwrap_or(0);
        let speck = SPECK * largest as f32;
        let is_large = |c: &Component| c.n_pixels as f32 >= speck;
        self.list.iter().zip(&paper).map(|(c, paper)| !paper && is_large(c)).collect()
    }

    /// The bounding box of the kept components.
    fn bounds(&self, kept: &[bool]) -> Option<Area> {
        let boxes = self.list.iter().zip(kept).filter(|(_, kept)| **kept).map(|(c, _)| c.area);
        boxes.reduce(Area::union)
    }

    /// The coverage of the kept components and of the pixels around them, in the columns of their bounding
    /// box. All other pixels are paper.
    fn only(&self, plane: &Plane, coverage: Coverage, kept: &[bool], area: Area) -> Vec<Line<f32>> {
        let rows: Vec<u128> = self
            .rows
            .windows(2)
            .map(|ends| {
                let kept = self.runs[ends[0]..ends[1]].iter().filter(|run| kept[run.component]);
                kept.fold(0, |bits, run| bits | run.bits())
            })
            .collect();
        let mut columns = vec![[0.0; MAX_SIDE]; area.width()];
        for y in area.top..area.bottom {
            let near = &rows[y.saturating_sub(1)..(y + 2).min(rows.len())];
            let near = near.iter().fold(0, |bits, row| bits | row);
            let near = near | near << 1 | near >> 1;
            for (start, end) in runs(near) {
                let pixels = &plane.lines[y][start.max(area.left)..end.min(area.right)];
                for (column, &contrast) in columns[start.max(area.left) - area.left..].iter_mut().zip(pixels)
                {
                    column[y - area.top] = coverage.of(contrast);
                }
            }
        }
        columns
    }
}

/// The earliest label of the component that `label` belongs to.
fn first(labels: &[usize], mut label: usize) -> usize {
    while labels[label] != label {
        label = labels[label];
    }
    label
}
