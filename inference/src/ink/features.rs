//! Runs the steps of feature extraction. They run again on the paper alone, if the picture shows more than paper, and
//! on a small character in a large picture with its margins alone.

use super::{
    colour, frame,
    mark::{self, Ink, NoInk},
    paper,
    plane::{Area, MAX_SIDE, Plane},
    shrink,
    surroundings::{Outline, Paper},
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

/// The paper, if the picture shows more than it, and the ink on it.
fn on_paper(image: PixelView<'_>, whole: Area, outline: &Outline) -> Option<(Paper, Found)> {
    outline.papers().into_iter().take(MAX_TRIES).find_map(|paper| {
        let part = paper.bounds(whole);
        let found = find_ink(grey(image, part, Some(&paper)), part).ok()?;
        let area = found.ink.area;
        let is_free = area.left > 0 && area.top > 0 && area.right < found.width && area.bottom < found.height;
        is_free.then_some((paper, found))
    })
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
