//! Turns Panjabi text into handwriting: the strokes of a pen, or a picture of them.
//!
//! 1. `orthography` divides the text into cells, each a letter with its signs.
//! 2. [`Writer`] runs the model, which gives the shape of every glyph in one handwriting style.
//! 3. `layout` places the cells on pages, draws each word's headline and joins the letters to it.
//! 4. `pen` resamples the strokes to smooth curves with points evenly spaced in time.
//! 5. `picture` and `svg` draw the strokes, in the widths that `widths` gives them.
//!
//! Lengths are in page units, which are pixels of the picture. The origin is at the top left, and y points
//! down. The model's own unit is the height of a letter's body: y = 0 at the headline and 1 at the baseline.

mod cell;
mod geometry;
mod hand;
mod headline;
mod joins;
mod layout;
mod line;
mod orthography;
mod page;
mod pen;
mod picture;
mod points;
mod signs;
mod svg;
mod widths;
mod writer;

pub use hand::Hand;
pub use layout::lay_out;
pub use orthography::{Glyphs, Text};
pub use page::{Page, Sheet};
pub use picture::{Ink, PictureError, png};
pub use svg::svg;
pub use writer::{Shape, Writer};

#[cfg(test)]
mod tests;
