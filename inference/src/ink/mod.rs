//! Turns the picture of one character into the input of a recognition model: a square of ink coverage.
//!
//! Training and serving use the same code: [`features`] takes one picture, and [`stream`] is a filter between
//! a picture generator and a trainer.
//!
//! The steps, each in a file of its own:
//! 1. `shrink` averages the picture down to at most 128 pixels a side, which limits the cost.
//! 2. `colour` reduces the colours to one grey value, along the colour direction in which ink and paper differ
//!    most.
//! 3. `paper` estimates the brightness of the paper (lighting and shadows) by grey closing, decides whether
//!    the ink is darker or lighter than the paper, and computes the contrast.
//! 4. `mark` applies a soft threshold relative to the ink's own contrast, and removes specks and, by `around`, ruled
//!    lines, a line below the character and the rest of a frame.
//! 5. `frame` centres the ink's bounding box, keeps its aspect ratio, and makes stroke widths more uniform.
//!
//! The loops go over arrays and over lines of a fixed length, without indices that would have to be checked. So
//! the compiler makes vector instructions of them.
//!
//! If the picture may show more than paper, such as the lines of a form, `surroundings` finds the paper, and the steps
//! run again on it alone.
//!
//! If the character is small in a large picture, it is found first. Then it is cut out of the original pixels
//! and processed again at its own scale.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "pixel positions are small, and every cast back to an index is clamped"
)]

mod around;
mod colour;
mod features;
mod frame;
mod mark;
mod morphology;
mod noise;
mod paper;
mod plane;
mod shrink;
mod stream;
mod surroundings;
mod view;

pub use features::features;
pub use frame::SIDE;
pub use mark::NoInk;
pub use stream::stream;
pub use view::PixelView;

#[cfg(test)]
mod tests;
