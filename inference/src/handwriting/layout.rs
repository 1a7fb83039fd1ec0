//! Pages: text and its glyphs' shapes come in; every stroke, in its place and in the order of writing,
//! comes out.

use rand::rngs::SmallRng;

use super::{
    cell::{self, SetCell},
    geometry::{BODY, Point, moved},
    headline,
    line::{self, Line},
    orthography::{Text, Word},
    page::{MARGIN, Page, Sheet, TOP},
    pen,
    writer::{Hand, Shape, normal},
};

/// How unevenly a hand spaces: standard deviation as a share of the gap.
const UNEVEN: f32 = 0.1;

/// Sets `text`, whose glyphs have these `shapes`, on pages. The same hand sets it the same way.
pub fn lay_out(text: &Text, shapes: &[Shape], page: &Page, hand: Hand) -> Sheet {
    let mut rng = hand.rng(3);
    let gap = page.char_gap();
    let mut shapes = shapes.iter();
    let mut lines: Vec<Line> = Vec::new();
    for words in &text.lines {
        let set = words.iter().map(|word| set_word(word, &mut shapes, gap, &mut rng)).collect();
        lines.extend(line::wrap(set, page, gap));
    }
    let mut rng = hand.rng(4);
    let per_page = page.n_lines();
    let mut strokes = Vec::new();
    let mut n_pages = 1;
    for (line, i) in lines.into_iter().zip(0u16..) {
        n_pages = i / per_page + 1;
        let baseline =
            f32::from(i / per_page) * page.length + TOP + f32::from(i % per_page) * page.line_space;
        let drift = Drift::new(&mut rng);
        for stroke in line_strokes(line, &mut rng) {
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
    rng: &mut SmallRng,
) -> (&'a Word, Vec<SetCell>, Vec<f32>) {
    let mut uneven = || gap * (1.0 + UNEVEN * normal(rng));
    let (cells, gaps) = word.cells.iter().map(|c| (cell::set(c, shapes, uneven()), uneven())).unzip();
    (word, cells, gaps)
}

/// A line's strokes: word by word, each word's headline after its letters.
fn line_strokes(line: Line, rng: &mut SmallRng) -> Vec<Vec<Point>> {
    let mut strokes = Vec::new();
    for word in line {
        let headlines = headline::of(&word, rng);
        for (x, cell) in word.cells {
            strokes.extend(cell.strokes.into_iter().map(|s| moved(s, x, 0.0)));
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
    fn new(rng: &mut SmallRng) -> Self {
        Self {
            slope: 0.004 * normal(rng),
            wave: 0.7 * normal(rng),
            phase: 3.0 * normal(rng),
            length: 90.0 + 15.0 * normal(rng),
        }
    }

    fn at(&self, x: f32) -> f32 {
        self.slope * x + self.wave * (x / self.length + self.phase).sin()
    }
}
