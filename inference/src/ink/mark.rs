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
    let ink = components.erase_others(&mut plane, &kept).ok_or(NoInk)?;
    Ok((plane, ink))
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
    /// 0 = paper, otherwise 1 + the component's index.
    labels: Vec<u32>,
    list: Vec<Component>,
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
}

impl Components {
    fn of(plane: &Plane) -> Self {
        let (width, height) = (plane.width, plane.height);
        let mut labels = vec![0_u32; plane.values.len()];
        let mut list = Vec::new();
        let mut open = Vec::new();
        for start in 0..labels.len() {
            if labels[start] != 0 || plane.values[start] < 0.5 {
                continue;
            }
            let label = list.len() as u32 + 1;
            let (x, y) = (start % width, start / width);
            let mut found =
                Component { n_pixels: 0, coverage: 0.0, area: Area { left: x, top: y, right: x, bottom: y } };
            labels[start] = label;
            open.push((x, y));
            while let Some((x, y)) = open.pop() {
                found.n_pixels += 1;
                found.coverage += plane.values[y * width + x];
                found.area.left = found.area.left.min(x);
                found.area.right = found.area.right.max(x + 1);
                found.area.top = found.area.top.min(y);
                found.area.bottom = found.area.bottom.max(y + 1);
                for near_y in y.saturating_sub(1)..(y + 2).min(height) {
                    for near_x in x.saturating_sub(1)..(x + 2).min(width) {
                        let at = near_y * width + near_x;
                        if labels[at] == 0 && plane.values[at] >= 0.5 {
                            labels[at] = label;
                            open.push((near_x, near_y));
                        }
                    }
                }
            }
            list.push(found);
        }
        Self { labels, list }
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

    /// Clears all coverage that does not border a kept component; the kept ink's box.
    fn erase_others(&self, plane: &mut Plane, kept: &[bool]) -> Option<Area> {
        let (width, height) = (plane.width, plane.height);
        let keeps = |label: u32| label > 0 && kept[label as usize - 1];
        for y in 0..height {
            for x in 0..width {
                let at = y * width + x;
                if plane.values[at] <= 0.0 || keeps(self.labels[at]) {
                    continue;
                }
                let borders = self.labels[at] == 0
                    && (y.saturating_sub(1)..(y + 2).min(height)).any(|near_y| {
                        (x.saturating_sub(1)..(x + 2).min(width))
                            .any(|near_x| keeps(self.labels[near_y * width + near_x]))
                    });
                if !borders {
                    plane.values[at] = 0.0;
                }
            }
        }
        let boxes = self.list.iter().zip(kept).filter(|(_, kept)| **kept).map(|(c, _)| c.area);
        boxes.reduce(|a, b| Area {
            left: a.left.min(b.left),
            top: a.top.min(b.top),
            right: a.right.max(b.right),
            bottom: a.bottom.max(b.bottom),
        })
    }
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
