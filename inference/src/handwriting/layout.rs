//! Pages: text and its glyphs' shapes come in; every stroke, in its place and in the order of writing,
//! comes out.

use rand::rngs::SmallRng;

use super::{
    BODY, Hand, Point, Shape, Text,
    cell::{self, SetCell},
    headline,
    line::{self, Line},
    orthography::Word,
    pen,
    writer::normal,
};

/// What a cell's bearings take of `char-space` and `word-space`: 12.5 on each side.
const BEARINGS: f32 = 25.0;
/// Between the page's edges and the ink of a line's body, page units.
const MARGIN: f32 = 18.0;
/// From a page's top to its first baseline: room for a letter and the signs above it.
const TOP: f32 = 100.0;
/// Below a page's last baseline at least: room for signs.
const BOTTOM: f32 = 34.0;
/// How unevenly a hand spaces: standard deviation as a share of the gap.
const UNEVEN: f32 = 0.1;

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
    fn n_lines(&self) -> u16 {
        ((self.length - TOP - BOTTOM) / self.line_space).max(0.0) as u16 + 1
    }
}

/// Sets `text`, whose glyphs have these `shapes`, on pages. The same hand sets it the same way.
pub fn lay_out(text: &Text, shapes: &[Shape], page: &Page, hand: Hand) -> Sheet {
    let mut chance = hand.chance(3);
    let gap = page.char_gap();
    let mut shapes = shapes.iter();
    let mut lines: Vec<Line> = Vec::new();
    for words in &text.lines {
        let set = words.iter().map(|word| set_word(word, &mut shapes, gap, &mut chance)).collect();
        lines.extend(line::wrap(set, page, gap));
    }
    let mut chance = hand.chance(4);
    let per_page = page.n_lines();
    let mut strokes = Vec::new();
    let mut n_pages = 1;
    for (line, i) in lines.into_iter().zip(0u16..) {
        n_pages = i / per_page + 1;
        let baseline =
            f32::from(i / per_page) * page.length + TOP + f32::from(i % per_page) * page.line_space;
        let drift = Drift::new(&mut chance);
        for stroke in line_strokes(line, &mut chance) {
            let placed = stroke.into_iter().map(|[x, y]| [x + MARGIN, y + baseline - BODY + drift.at(x)]);
            strokes.push(placed.collect());
        }
    }
    let bounds = [page.width, page.length * f32::from(n_pages)];
    let strokes = strokes.into_iter().map(|s: Vec<Point>| pen::follow(&s, bounds)).collect();
    Sheet { strokes, width: page.width, page_length: page.length, n_pages }
}

fn set_word<'a>(
    word: &'a Word,
    shapes: &mut std::slice::Iter<'_, Shape>,
    gap: f32,
    chance: &mut SmallRng,
) -> (&'a Word, Vec<SetCell>, Vec<f32>) {
    let mut uneven = || gap * (1.0 + UNEVEN * normal(chance));
    let (cells, gaps) = word.cells.iter().map(|c| (cell::set(c, shapes, uneven()), uneven())).unzip();
    (word, cells, gaps)
}

/// A line's strokes: word by word, each word's headline after its letters.
fn line_strokes(line: Line, chance: &mut SmallRng) -> Vec<Vec<Point>> {
    let mut strokes = Vec::new();
    for word in line {
        let headlines = headline::of(&word, chance);
        for (x, cell) in word.cells {
            strokes.extend(cell.strokes.into_iter().map(|s| cell::moved(s, x, 0.0)));
        }
        strokes.extend(headlines);
    }
    strokes
}

/// How a line of writing strays from the ruled one: it climbs or falls a little, and waves.
struct Drift {
    slope: f32,
    wave: f32,
    phase: f32,
    length: f32,
}

impl Drift {
    fn new(chance: &mut SmallRng) -> Self {
        Self {
            slope: 0.004 * normal(chance),
            wave: 0.7 * normal(chance),
            phase: 3.0 * normal(chance),
            length: 90.0 + 15.0 * normal(chance),
        }
    }

    fn at(&self, x: f32) -> f32 {
        self.slope * x + self.wave * (x / self.length + self.phase).sin()
    }
}
