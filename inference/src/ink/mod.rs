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

mod features;
mod frame;
mod mark;
mod morphology;
mod paper;
mod plane;
mod shrink;
mod stream;
mod view;

pub use features::features;
pub use frame::SIDE;
pub use mark::NoInk;
pub use stream::stream;
pub use view::PixelView;

#[cfg(test)]
mod tests;
