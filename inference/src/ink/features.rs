//! Runs the steps of feature extraction. They run again on the paper alone, if the picture shows more than paper, and
//! on a small character in a large picture with its margins alone.

use super::{
    colour, frame,
    mark::{self, Ink, NoInk},
    paper,
    plane::{Area, MAX_SIDE, Plane},
    shrink,
    surroundings::{Line, Outline, Paper},
    view::PixelView,
};

/// A character whose longest side is below this share of [`MAX_SIDE`] gets a second pass at a larger scale.
const SECOND_PASS_BELOW: f32 = 0.55;

/// Computes the ink coverage of one character's picture: `SIDE * SIDE` values in row-major order, from 0.0
/// (paper) to 1.0 (ink).
///
/// # Errors
/// [`NoInk`] when nothing stands out from the paper.
pub fn features(image: PixelView<'_>) -> Result<Vec<f32>, NoInk> {
    let whole = Area { left: 0, top: 0, right: image.width, bottom: image.height };
    let grey = grey(image, whole, None);
    let outline = Outline::of(&grey);
    let found = find_ink(grey, whole);
    if found.as_ref().map_or(true, |found| found.ink.may_be_surroundings)
        && let Some((paper, found)) = on_paper(image, whole, &outline)
    {
        return Ok(closer(image, Some(&paper), &found));
    }
    Ok(closer(image, None, &found?))
}

/// Papers that are tried at most.
const MAX_TRIES: usize = 6;
/// The fewest pixels of a paper's side.
const MIN_PAPER: usize = 20;
/// The least length of the ink on a small paper, as a share of the paper's. Less is a part of a character that encloses the rest.
const MIN_INK: f32 = 0.4;
/// How near to the picture's edge ink may come on a paper that has lines or a dark band at two neighbouring sides alone, as a
/// share of the picture's side. Nearer, these are the headline and the bar of a character that was cut out closely.
const CLOSE: f32 = 0.08;

/// The paper, if the picture shows more than it, and the ink on it. If ink touches a side of a paper, such as one that is a
/// headline, no other paper with this side is tried.
fn on_paper(image: PixelView<'_>, whole: Area, outline: &Outline) -> Option<(Paper, Found)> {
    let mut touched: Vec<[Option<Line>; 4]> = Vec::new();
    let is_same = |lines: &[Option<Line>; 4], sides: [Line; 4]| {
        lines.iter().zip(sides).any(|(line, side)| *line == Some(side))
    };
    let mut n_tries = 0;
    for paper in outline.papers() {
        let part = paper.bounds(whole);
        let is_tried = touched.iter().any(|lines| is_same(lines, paper.sides()));
        if is_tried || part.width().min(part.height()) < MIN_PAPER {
            continue;
        }
        n_tries += 1;
        if n_tries > MAX_TRIES {
            break;
        }
        let Ok(found) = find_ink(grey(image, part, Some(&paper)), part) else { continue };
        let Area { left, top, right, bottom } = found.ink.area;
        let margins = [left, found.width - right, top, found.height - bottom];
        if margins.contains(&0) {
            let sides = paper.sides();
            touched.push(std::array::from_fn(|nth| (margins[nth] == 0).then_some(sides[nth])));
        } else if is_plausible(outline, &paper, &found, margins) {
            return Some((paper, found));
        }
    }
    None
}

/// Whether what encloses the ink is more likely something around the character than a part of it. `margins`: how far the ink is
/// from the paper's left, right, top and bottom sides, in pixels of `found`.
fn is_plausible(outline: &Outline, paper: &Paper, found: &Found, margins: [usize; 4]) -> bool {
    let longest = found.width.max(found.height) as f32;
    let is_little = (found.ink.area.longest() as f32) < MIN_INK * longest;
    if paper.is_small() && (is_little || !outline.has_thin_sides(paper)) {
        return false;
    }
    let [left, right, top, bottom] = paper.is_at_edge();
    let is_corner = left != right && top != bottom;
    let near = margins.iter().zip(paper.is_at_edge()).filter(|(_, is_at_edge)| *is_at_edge);
    let near = near.map(|(margin, _)| *margin as f32).fold(longest, f32::min);
    !(is_corner && near < CLOSE * longest)
}

/// The features of the ink that was found, from a larger picture of it if it is small.
fn closer(image: PixelView<'_>, paper: Option<&Paper>, found: &Found) -> Vec<f32> {
    let reduced_side = found.width.max(found.height);
    let is_small = (found.ink.area.longest() as f32) < SECOND_PASS_BELOW * MAX_SIDE as f32;
    if reduced_side < found.part.longest() && is_small {
        let around = margins(found);
        if let Ok(closer) = find_ink(grey(image, around, paper), around) {
            return frame::square(&closer.ink);
        }
    }
    frame::square(&found.ink)
}

/// The ink in a part of the image, and the size to which the part was reduced.
struct Found {
    part: Area,
    width: usize,
    height: usize,
    ink: Ink,
}

/// The brightness of a part of the image, without what is outside of the paper.
fn grey(image: PixelView<'_>, part: Area, paper: Option<&Paper>) -> Plane {
    let mut picture = shrink::shrink(image, part);
    if let Some(paper) = paper {
        let whole = Area { left: 0, top: 0, right: image.width, bottom: image.height };
        paper.fill_outside(&mut picture, part, whole);
    }
    colour::grey(&picture)
}

fn find_ink(grey: Plane, part: Area) -> Result<Found, NoInk> {
    let (width, height) = (grey.width, grey.height());
    let ink = mark::ink(&paper::contrast(grey))?;
    Ok(Found { part, width, height, ink })
}

/// The ink's bounding box in pixels of the source, with a margin of 0.4 of its longest side.
fn margins(found: &Found) -> Area {
    let Found { part, .. } = *found;
    let scale_x = part.width() as f32 / found.width as f32;
    let scale_y = part.height() as f32 / found.height as f32;
    let margin = 0.4 * found.ink.area.longest() as f32 + 2.0;
    let low = |edge: usize, scale: f32| ((edge as f32 - margin).max(0.0) * scale) as usize;
    let high = |edge: usize, scale: f32, end: usize| {
        (((edge as f32 + margin) * scale).ceil() as usize).clamp(1, end)
    };
    Area {
        left: part.left + low(found.ink.area.left, scale_x).min(part.width() - 1),
        top: part.top + low(found.ink.area.top, scale_y).min(part.height() - 1),
        right: part.left + high(found.ink.area.right, scale_x, part.width()),
        bottom: part.top + high(found.ink.area.bottom, scale_y, part.height()),
    }
}
