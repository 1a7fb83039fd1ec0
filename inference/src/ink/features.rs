//! The steps of feature extraction, one after the other; a small character is looked at twice.

use super::{
    frame,
    mark::{self, NoInk},
    paper,
    plane::{Area, Plane},
    shrink,
    view::PixelView,
};

/// Longest side, in pixels, of the image that the steps work on.
const WORK: usize = 128;

/// A found box whose longest side is below this share of [`WORK`] is looked at again, closer.
const CLOSER_BELOW: f32 = 0.55;

/// Ink coverage 0.0 (paper) ..= 1.0 (ink), `SIDE * SIDE` values, row-major.
///
/// # Errors
/// [`NoInk`] when no mark stands out from the paper.
pub fn features(image: PixelView<'_>) -> Result<Vec<f32>, NoInk> {
    let whole = Area { left: 0, top: 0, right: image.width, bottom: image.height };
    let found = look(image, whole)?;
    let seen = found.plane.width.max(found.plane.height);
    let small = (found.ink.longest() as f32) < CLOSER_BELOW * WORK as f32;
    if seen < whole.longest() && small {
        let around = surroundings(&found, whole);
        if let Ok(closer) = look(image, around) {
            return Ok(frame::square(&closer.plane, closer.ink));
        }
    }
    Ok(frame::square(&found.plane, found.ink))
}

/// Coverage over a part of the image at working size, and the ink's box in it.
struct Found {
    plane: Plane,
    ink: Area,
}

fn look(image: PixelView<'_>, part: Area) -> Result<Found, NoInk> {
    let contrast = paper::contrast(shrink::shrink(image, part, WORK));
    let (plane, ink) = mark::coverage(contrast)?;
    Ok(Found { plane, ink })
}

/// The ink's box in source pixels with paper of 0.4 of its longest side around it.
fn surroundings(found: &Found, whole: Area) -> Area {
    let scale_x = whole.width() as f32 / found.plane.width as f32;
    let scale_y = whole.height() as f32 / found.plane.height as f32;
    let margin = 0.4 * found.ink.longest() as f32 + 2.0;
    let low = |edge: usize, scale: f32| ((edge as f32 - margin).max(0.0) * scale) as usize;
    let high = |edge: usize, scale: f32, end: usize| {
        (((edge as f32 + margin) * scale).ceil() as usize).clamp(1, end)
    };
    Area {
        left: low(found.ink.left, scale_x).min(whole.right - 1),
        top: low(found.ink.top, scale_y).min(whole.bottom - 1),
        right: high(found.ink.right, scale_x, whole.right),
        bottom: high(found.ink.bottom, scale_y, whole.bottom),
    }
}
