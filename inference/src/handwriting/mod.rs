//! Handwriting: Panjabi text comes in; the strokes of a pen, or a picture of them, come out.
//!
//! `orthography` reads text into cells, each a letter with its signs. [`Writer`] asks the model how one
//! hand shapes every glyph of them. `layout` sets the cells on pages and draws each word's headline;
//! `pen` makes strokes of it that a pen could follow, and `picture` inks them.
//!
//! Lengths are page units, which are pixels of the picture, origin at the top left, y down. The model's own
//! unit is the body of a letter: y = 0 at the headline, 1 at the baseline.

mod cell;
mod geometry;
mod headline;
mod layout;
mod line;
mod orthography;
mod page;
mod pen;
mod picture;
mod points;
mod signs;
mod writer;

pub use layout::lay_out;
pub use orthography::{Glyphs, Text};
pub use page::{Page, Sheet};
pub use picture::{Ink, PictureError, png};
pub use writer::{Hand, Shape, Writer};

#[cfg(test)]
mod tests;
