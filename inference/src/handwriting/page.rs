//! Pages: how text is to be set comes in, as spacings and sizes; written pages, as strokes, go out.

use super::geometry::Point;

/// What a cell's bearings take of `char-space` and `word-space`: 12.5 on each side.
const BEARINGS: f32 = 25.0;
/// Between the page's edges and the ink of a line's body, page units.
pub(super) const MARGIN: f32 = 18.0;
/// From a page's top to its first baseline: room for a letter and the signs above it.
pub(super) const TOP: f32 = 100.0;
/// Below a page's last baseline at least: room for signs.
const BOTTOM: f32 = 34.0;

/// How text is set. Lengths in page units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Page {
    /// Baseline to baseline.
    pub line_space: f32,
    /// Between characters: their ink lies 25 less apart.
    pub char_space: f32,
    /// Between words: their ink lies 25 less apart.
    pub word_space: f32,
    /// Its width.
    pub width: f32,
    /// Its height; text that needs more goes on below, on further pages.
    pub length: f32,
}

/// Written pages, one below the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    /// Every stroke in the order of writing: at least two points each, evenly spaced in time, no two
    /// neighbours further apart than 2.
    pub strokes: Vec<Vec<Point>>,
    /// How wide.
    pub width: f32,
    /// How high one page is.
    pub page_length: f32,
    /// How many pages.
    pub n_pages: u16,
}

impl Page {
    pub(crate) const fn char_gap(&self) -> f32 {
        self.char_space - BEARINGS
    }

    pub(crate) const fn word_gap(&self) -> f32 {
        self.word_space - BEARINGS
    }

    pub(crate) const fn line_width(&self) -> f32 {
        self.width - 2.0 * MARGIN
    }

    /// How many lines a page takes.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1, at most 8")]
    pub(super) fn n_lines(&self) -> u16 {
        ((self.length - TOP - BOTTOM) / self.line_space).max(0.0) as u16 + 1
    }
}
