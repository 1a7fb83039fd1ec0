//! Runs the steps of feature extraction. A small character in a large picture takes two passes: the first
//! pass finds it, and the second one processes only its surroundings.

use super::{
    frame,
    mark::{self, Ink, NoInk},
    paper,
    plane::{Area, MAX_SIDE},
    shrink,
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
    let found = find_ink(image, whole)?;
    let reduced_side = found.width.max(found.height);
    let is_small = (found.ink.area.longest() as f32) < SECOND_PASS_BELOW * MAX_SIDE as f32;
    if reduced_side < whole.longest() && is_small {
        let around = surroundings(&found, whole);
        if let Ok(closer) = find_ink(image, around) {
            return Ok(frame::square(&closer.ink));
        }
    }
    Ok(frame::square(&found.ink))
}

/// The ink in a part of the image, and the size to which the part was reduced.
struct Found {
    width: usize,
    height: usize,
    ink: Ink,
}

fn find_ink(image: PixelView<'_>, part: Area) -> Result<Found, NoInk> {
    let picture = shrink::shrink(image, part);
    let ink = mark::ink(&paper::contrast(&picture))?;
    Ok(Found { width: picture.width, height: picture.height, ink })
}

/// The ink's bounding box in pixels of the source, with a margin of 0.4 of its longest side.
fn surroundings(found: &Found, whole: Area) -> Area {
    let scale_x = whole.width() as f32 / found.width as f32;
    let scale_y = whole.height() as f32 / found.height as f32;
    let margin = 0.4 * found.ink.area.longest() as f32 + 2.0;
    let low = |edge: usize, scale: f32| ((edge as f32 - margin).max(0.0) * scale) as usize;
    let high = |edge: usize, scale: f32, end: usize| {
        (((edge as f32 + margin) * scale).ceil() as usize).clamp(1, end)
    };
    Area {
        left: low(found.ink.area.left, scale_x).min(whole.right - 1),
        top: low(found.ink.area.top, scale_y).min(whole.bottom - 1),
        right: high(found.ink.area.right, scale_x, whole.right),
        bottom: high(found.ink.area.bottom, scale_y, whole.bottom),
    }
}
