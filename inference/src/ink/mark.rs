//! Turns contrast into ink coverage, removes what is not a character, and finds the ink's bounding box.

use super::{
    paper::Contrast,
    plane::{Area, Plane},
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
const SPECK: f32 = 0.008;
/// A component at the image's edge counts as shadow if its mean coverage is this much lower than another's.
const WEAKER: f32 = 0.07;
/// A line from edge to edge that is thinner than this share of the image is a ruled line of the paper.
const RULE: f32 = 0.035;

/// Computes the coverage of each pixel, 0.0 ..= 1.0, and the bounding box of the ink.
///
/// # Errors
/// [`NoInk`] when nothing stands out from the paper, or only specks and ruled lines do.
pub(super) fn coverage(contrast: Contrast) -> Result<(Plane, Area), NoInk> {
    let Contrast { mut plane, noise } = contrast;
    let level = ink_level(&plane.values);
    if level < MIN_CONTRAST || level < MIN_CONTRAST_TO_NOISE * noise {
        return Err(NoInk);
    }
    let (low, high) = (SOFT.0 * level, SOFT.1 * level);
    for value in &mut plane.values {
        *value = ((*value - low) / (high - low)).clamp(0.0, 1.0);
    }
    let components = Components::of(&plane);
    let kept = components.kept(&plane);
    let ink = components.bounds(&kept).ok_or(NoInk)?;
    Ok((components.only(&plane, &kept), ink))
}

/// The contrast of full ink: the mean of all values above 0.6 of the contraharmonic mean. A few dark pixels
/// determine the contraharmonic mean, whatever the size of the paper.
fn ink_level(values: &[f32]) -> f32 {
    let squares = sum_of(values, |v| v * v);
    if squares <= f32::MIN_POSITIVE {
        return 0.0;
    }
    let bound = 0.6 * sum_of(values, |v| v * v * v) / squares;
    let count = sum_of(values, |v| if v >= bound { 1.0 } else { 0.0 });
    let sum = sum_of(values, |v| if v >= bound { v } else { 0.0 });
    if count > 0.0 { sum / count } else { 0.0 }
}

/// Sums `term` over the values in eight lanes, which the compiler turns into vector additions.
fn sum_of(values: &[f32], term: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0_f32; 8];
    let eights = values.chunks_exact(8);
    let rest: f32 = eights.remainder().iter().map(|&v| term(v)).sum();
    for eight in eights {
        for (lane, &value) in lanes.iter_mut().zip(eight) {
            *lane += term(value);
        }
    }
    lanes.iter().sum::<f32>() + rest
}

/// Connected components (with eight neighbours) of the pixels whose coverage is at least one half.
struct Components {
    /// The runs of such pixels within the rows, from top to bottom.
    runs: Vec<Run>,
    /// For each row, the index of its first run. One more entry marks the end.
    rows: Vec<usize>,
    list: Vec<Component>,
}

/// Adjacent pixels in one row.
struct Run {
    start: usize,
    end: usize,
    /// The index of the component that the run is part of.
    component: usize,
}

struct Component {
    n_pixels: usize,
    /// The sum of the pixels' coverage.
    coverage: f32,
    area: Area,
}

impl Component {
    /// Mean coverage, 0.5 ..= 1.0.
    fn mean(&self) -> f32 {
        self.coverage / self.n_pixels as f32
    }

    fn add(&mut self, other: &Self) {
        self.n_pixels += other.n_pixels;
        self.coverage += other.coverage;
        self.area = self.area.union(other.area);
    }
}

impl Components {
    /// Labels connected components. The algorithm joins runs that touch runs of the row above, as in
    /// Rosenfeld and Pfaltz, "Sequential Operations in Digital Picture Processing" (1966), which uses pixels
    /// instead of runs.
    fn of(plane: &Plane) -> Self {
        let mut runs: Vec<Run> = Vec::new();
        let mut rows = vec![0];
        let mut list: Vec<Component> = Vec::new();
        // For each label: the label itself, or an earlier label of the same component.
        let mut labels: Vec<usize> = Vec::new();
        let mut above = 0..0;
        for (y, row) in plane.values.chunks_exact(plane.width).enumerate() {
            let mut next_above = above.start;
            let mut from = 0;
            while let Some(start) = row[from..].iter().position(|v| *v >= 0.5).map(|n| from + n) {
                let end = row[start..].iter().position(|v| *v < 0.5).map_or(row.len(), |n| start + n);
                from = end;
                let area = Area { left: start, top: y, right: end, bottom: y + 1 };
                let coverage = row[start..end].iter().sum();
                let run = Component { n_pixels: end - start, coverage, area };
                // A run above that ends before this run begins cannot touch a later run either.
                while next_above < above.end && runs[next_above].end < start {
                    next_above += 1;
                }
                let touching = runs[next_above..above.end].iter().take_while(|r| r.start <= end);
                let touching: Vec<usize> = touching.map(|r| first(&labels, r.component)).collect();
                let component = touching.iter().copied().min().unwrap_or_else(|| {
                    labels.push(labels.len());
                    list.push(Component { n_pixels: 0, coverage: 0.0, area });
                    labels.len() - 1
                });
                for label in touching {
                    labels[label] = component;
                }
                list[component].add(&run);
                runs.push(Run { start, end, component });
            }
            above = above.end..runs.len();
            rows.push(runs.len());
        }
        Self { runs, rows, list }.joined(&labels)
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
        let paper: Vec<bool> =
            self.list.iter().map(|c| is_rule(c, plane) || self.is_shadow(c, plane)).collect();
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

    /// Whether a component is the rest of a shadow that the paper field missed: it is at the image's edge and
    /// weaker than another component of some size.
    fn is_shadow(&self, component: &Component, plane: &Plane) -> bool {
        let Area { left, top, right, bottom } = component.area;
        let at_edge = left == 0 || top == 0 || right == plane.width || bottom == plane.height;
        let stronger = |other: &Component| {
            other.n_pixels * 4 >= component.n_pixels && other.mean() > component.mean() + WEAKER
        };
        at_edge && self.list.iter().any(stronger)
    }

    /// The bounding box of the kept components.
    fn bounds(&self, kept: &[bool]) -> Option<Area> {
        let boxes = self.list.iter().zip(kept).filter(|(_, kept)| **kept).map(|(c, _)| c.area);
        boxes.reduce(Area::union)
    }

    /// The coverage of the kept components and of the pixels around them. All other pixels become paper.
    fn only(&self, plane: &Plane, kept: &[bool]) -> Plane {
        let (width, height) = (plane.width, plane.height);
        let mut values = vec![0.0; plane.values.len()];
        for (y, runs) in self.rows.windows(2).enumerate() {
            for run in self.runs[runs[0]..runs[1]].iter().filter(|run| kept[run.component]) {
                for near_y in y.saturating_sub(1)..(y + 2).min(height) {
                    let from = near_y * width + run.start.saturating_sub(1);
                    let to = near_y * width + (run.end + 1).min(width);
                    values[from..to].copy_from_slice(&plane.values[from..to]);
                }
            }
        }
        Plane { width, height, values }
    }
}

/// The earliest label of the component that `label` belongs to.
fn first(labels: &[usize], mut label: usize) -> usize {
    while labels[label] != label {
        label = labels[label];
    }
    label
}

/// Whether a component is a ruled line: thin, straight, and from one edge of the image to the opposite one.
fn is_rule(component: &Component, plane: &Plane) -> bool {
    let area = component.area;
    let (width, height) = (plane.width as f32, plane.height as f32);
    let n_pixels = component.n_pixels as f32;
    let thin = RULE * width.max(height);
    let across = area.left == 0 && area.right == plane.width && plane.width > 16;
    let down = area.top == 0 && area.bottom == plane.height && plane.height > 16;
    (across && n_pixels / width <= thin && (area.height() as f32) < 0.15 * height)
        || (down && n_pixels / height <= thin && (area.width() as f32) < 0.15 * width)
}
