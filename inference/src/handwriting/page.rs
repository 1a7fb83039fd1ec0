//! The dimensions of a page, and the sheet: written pages as strokes.

use super::geometry::Point;

/// The part of `char-space` and `word-space` that belongs to the cells: a bearing of 12.5 page units on each
/// side.
const BEARINGS: f32 = 25.0;
/// Distance from the page's left and right edge to a line's ink, page units.
pub(super) const MARGIN: f32 = 18.0;
/// Distance from a page's top to its first baseline, page units: space for a letter and the signs above it.
pub(super) const TOP: f32 = 100.0;
/// The smallest distance from a page's last baseline to its bottom, page units: space for signs.
const BOTTOM: f32 = 34.0;

/// The dimensions and spacings of a page. All lengths are in page units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Page {
    /// The distance from baseline to baseline.
    pub line_space: f32,
    /// The distance between characters. The gap between their ink is 25 less.
    pub char_space: f32,
    /// The distance between words. The gap between their ink is 25 less.
    pub word_space: f32,
    /// The width of the page.
    pub width: f32,
    /// The height of the page. A longer text continues on further pages below.
    pub length: f32,
}

/// Written pages, one below the other. All lengths are in page units.
#[derive(Debug, Clone, PartialEq)]
pub struct Sheet {
    /// All strokes in the order of writing. Each stroke has at least two points, which are evenly spaced in
    /// time and at most 2 apart.
    pub strokes: Vec<Vec<Point>>,
    /// The width of the pages.
    pub width: f32,
    /// The height of one page.
    pub page_length: f32,
    /// The number of pages.
    pub n_pages: u16,
}

impl Sheet {
    /// The width and the height of the picture of all pages, in whole pixels.
    pub(super) fn size(&self) -> [f32; 2] {
        [self.width.round(), (self.page_length * f32::from(self.n_pages)).round()]
    }
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

    /// The number of lines on a page.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 1, at most 8")]
    pub(super) fn n_lines(&self) -> u16 {
        ((self.length - TOP - BOTTOM) / self.line_space).max(0.0) as u16 + 1
    }
}
