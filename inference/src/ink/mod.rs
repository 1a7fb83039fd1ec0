//! One character's image in, one square of ink coverage out.
//!
//! The same code prepares the images a model is trained on and those it is served: [`features`]
//! for one picture, [`stream`] as a filter between a picture generator and a trainer.
//!
//! Steps, each in its own file:
//! 1. `shrink`: area-average down to at most 128 pixels a side, so cost is bounded.
//! 2. `paper`: one grey value per pixel along the colour direction in which ink and paper differ
//!    most; a paper field by grey closing (illumination and shadows); polarity.
//! 3. `mark`: a soft threshold relative to the ink's own level; specks and rules dropped.
//! 4. `frame`: the ink box, centred with its aspect kept, stroke width evened out.
//!
//! A character that is small in a large picture is found first, then cut out of the original
//! pixels and treated again at its own scale.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pixel positions are small and bounded; each cast back to an index is clamped"
)]

mod frame;
mod mark;
mod paper;
mod shrink;

use std::io::{self, Read, Write};

/// Side of the square feature image in pixels.
pub const SIDE: usize = 48;

/// Longest side, in pixels, of the image that the steps work on.
const WORK: usize = 128;

/// A found box whose longest side is below this share of [`WORK`] is looked at again, closer.
const CLOSER_BELOW: f32 = 0.55;

/// Frames of more pixels than this are refused by [`stream`]: the filter's memory is bounded.
const MAX_FRAME_PIXELS: u64 = 1 << 26;

/// 8-bit RGB, row-major, already decoded, oriented, alpha-flattened.
#[derive(Clone, Copy)]
pub struct RgbView<'a> {
    width: usize,
    height: usize,
    pixels: &'a [u8],
}

impl<'a> RgbView<'a> {
    /// A view of `width * height * 3` bytes; `None` when a side is zero or the length differs.
    #[must_use]
    pub fn new(width: usize, height: usize, pixels: &'a [u8]) -> Option<Self> {
        let n_bytes = width.checked_mul(height)?.checked_mul(3)?;
        (n_bytes > 0 && pixels.len() == n_bytes).then_some(Self { width, height, pixels })
    }

    /// Width in pixels, at least 1.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Height in pixels, at least 1.
    #[must_use]
    pub fn height(&self) -> usize {
        self.height
    }
}

/// Nothing that could be a character was found: a blank page, or one colour all over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoInk;

impl std::fmt::Display for NoInk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("no ink was found in the image")
    }
}

impl std::error::Error for NoInk {}

/// A half-open box in pixels of some image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Area {
    left: usize,
    top: usize,
    right: usize,
    bottom: usize,
}

impl Area {
    fn width(&self) -> usize {
        self.right - self.left
    }

    fn height(&self) -> usize {
        self.bottom - self.top
    }

    fn longest(&self) -> usize {
        self.width().max(self.height())
    }
}

/// One value per pixel, row-major.
struct Plane {
    width: usize,
    height: usize,
    values: Vec<f32>,
}

/// Ink coverage 0.0 (paper) ..= 1.0 (ink), `SIDE * SIDE` values, row-major.
///
/// # Errors
/// [`NoInk`] when no mark stands out from the paper.
pub fn features(image: RgbView<'_>) -> Result<Vec<f32>, NoInk> {
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

fn look(image: RgbView<'_>, part: Area) -> Result<Found, NoInk> {
    let colours = shrink::shrink(image, part, WORK);
    let contrast = paper::contrast(&colours);
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

/// Feature extraction as a filter for training; returns how many frames went through.
///
/// In, per frame: width and height as little-endian `u32`, then `width * height * 3` bytes of RGB.
/// Out, per frame: one status byte (0 = ink, 1 = no ink), then `SIDE * SIDE` bytes of coverage
/// (times 255, rounded; zeros when there is no ink), flushed so that a caller may wait for it.
///
/// # Errors
/// Any error of reading or writing; `InvalidData` for an empty or oversized frame.
pub fn stream(input: &mut dyn Read, output: &mut dyn Write) -> io::Result<u64> {
    let mut n_frames = 0;
    let mut pixels = Vec::new();
    let mut reply = vec![0_u8; 1 + SIDE * SIDE];
    while let Some((width, height)) = read_header(input)? {
        let n_pixels = u64::from(width) * u64::from(height);
        if n_pixels == 0 || n_pixels > MAX_FRAME_PIXELS {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "frame size out of range"));
        }
        pixels.resize(n_pixels as usize * 3, 0);
        input.read_exact(&mut pixels)?;
        reply.fill(0);
        let view = RgbView::new(width as usize, height as usize, &pixels);
        match view.ok_or(NoInk).and_then(features) {
            Ok(values) => {
                for (byte, value) in reply[1..].iter_mut().zip(values) {
                    *byte = (value * 255.0).round() as u8;
                }
            }
            Err(NoInk) => reply[0] = 1,
        }
        output.write_all(&reply)?;
        output.flush()?;
        n_frames += 1;
    }
    Ok(n_frames)
}

/// Width and height of the next frame; `None` at a clean end of input.
fn read_header(input: &mut dyn Read) -> io::Result<Option<(u32, u32)>> {
    let mut header = [0_u8; 8];
    let mut n_read = 0;
    while n_read < header.len() {
        match input.read(&mut header[n_read..]) {
            Ok(0) if n_read == 0 => return Ok(None),
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(n) => n_read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let [w0, w1, w2, w3, h0, h1, h2, h3] = header;
    Ok(Some((u32::from_le_bytes([w0, w1, w2, w3]), u32::from_le_bytes([h0, h1, h2, h3]))))
}

#[cfg(test)]
mod tests;
