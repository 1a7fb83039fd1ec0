//! Contrast in, soft ink coverage and the ink's box out.

use super::{
    paper::Contrast,
    plane::{Area, Plane},
};

/// Nothing that could be a character was found: a blank page, or one colour all over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoInk;

impl std::fmt::Display for NoInk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("no ink was found in the image")
    }
}

impl std::error::Error for NoInk {}

/// The weakest ink that counts, as contrast against the paper.
const FAINTEST: f32 = 0.05;
/// Ink must stand out this many standard deviations of the noise.
const ABOVE_NOISE: f32 = 4.0;
/// Coverage rises from 0 to 1 between these shares of the ink's level.
const SOFT: (f32, f32) = (0.28, 0.62);
/// A component smaller than this share of the largest is a speck.
const SPECK: f32 = 0.008;
/// A mark at the image's edge whose mean coverage is this much below another's is shadow.
const WEAKER: f32 = 0.07;
/// A line from edge to edge thinner than this share of the image is a rule of the paper.
const RULE: f32 = 0.035;

/// Coverage 0.0 ..= 1.0 per pixel and the box around all of it.
///
/// # Errors
/// [`NoInk`] when nothing stands out, or only specks and rules do.
pub(super) fn coverage(contrast: Contrast) -> Result<(Plane, Area), NoInk> {
    let Contrast { mut plane, noise } = contrast;
    let level = ink_level(&plane.values);
    if level < FAINTEST || level < ABOVE_NOISE * noise {
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

/// The contrast that full ink has: the mean of what is above 0.6 of the contraharmonic mean,
/// which a few dark pixels dominate however large the paper is.
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

/// Sum in eight lanes, which the compiler turns into vector additions.
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

/// Connected regions (eight neighbours) of coverage of at least one half.
struct Components {
    /// Every run of such pixels within a row, from the top.
    runs: Vec<Run>,
    /// Where each row's runs begin, and where the last one's end.
    rows: Vec<usize>,
    list: Vec<Component>,
}

/// Neighbouring pixels of one row.
struct Run {
    start: usize,
    end: usize,
    /// Which component it is part of.
    component: usize,
}

struct Component {
    n_pixels: usize,
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
    /// Joins runs that touch from row to row, as in Rosenfeld and Pfaltz, "Sequential Operations in Digital
    /// Picture Processing" (1966), with runs in place of pixels.
    fn of(plane: &Plane) -> Self {
        let (mut runs, mut rows): (Vec<Run>, Vec<usize>) = (Vec::new(), vec![0]);
        let mut list: Vec<Component> = Vec::new();
        // For each label, itself or an earlier one of the same component.
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
                // Runs above that end before this one begins touch no later one either.
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

    /// Gives the runs of each component one label, and numbers the components anew.
    fn joined(mut self, labels: &[usize]) -> Self {
        let (mut list, mut places) = (Vec::<Component>::new(), vec![0; labels.len()]);
        for (label, part) in self.list.into_iter().enumerate() {
            match first(labels, label) {
                own if own == label => {
                    places[label] = list.len();
                    list.push(part);
                }
                other => {
                    places[label] = places[other];
                    list[places[other]].add(&part);
                }
            }
        }
        for run in &mut self.runs {
            run.component = places[run.component];
        }
        Self { list, ..self }
    }

    /// For each component, whether it can be part of a character.
    fn kept(&self, plane: &Plane) -> Vec<bool> {
        let rule: Vec<bool> =
            self.list.iter().map(|c| is_rule(c, plane) || self.is_leftover(c, plane)).collect();
        let largest = self
            .list
            .iter()
            .zip(&rule)
            .filter(|(_, rule)| !**rule)
            .map(|(component, _)| component.n_pixels)
            .max()
            .unwrap_or(0);
        let speck = SPECK * largest as f32;
        let fits = |c: &Component| c.n_pixels as f32 >= speck;
        self.list.iter().zip(&rule).map(|(c, rule)| !rule && fits(c)).collect()
    }

    /// Weaker than another mark of some size, and at the image's edge: a corner of shadow that the
    /// paper field missed.
    fn is_leftover(&self, component: &Component, plane: &Plane) -> bool {
        let Area { left, top, right, bottom } = component.area;
        let at_edge = left == 0 || top == 0 || right == plane.width || bottom == plane.height;
        let stronger = |other: &Component| {
            other.n_pixels * 4 >= component.n_pixels && other.mean() > component.mean() + WEAKER
        };
        at_edge && self.list.iter().any(stronger)
    }

    /// The box around the kept components.
    fn bounds(&self, kept: &[bool]) -> Option<Area> {
        let boxes = self.list.iter().zip(kept).filter(|(_, kept)| **kept).map(|(c, _)| c.area);
        boxes.reduce(Area::union)
    }

    /// Only the coverage of kept components and of the pixels around them; the rest is paper.
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

/// The first label of the component that a label belongs to.
fn first(labels: &[usize], mut label: usize) -> usize {
    while labels[label] != label {
        label = labels[label];
    }
    label
}

/// A thin straight mark that runs from one edge of the image to the opposite one.
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
