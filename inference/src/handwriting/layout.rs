//! Places the glyphs of a text on pages. The result is every stroke at its position, in the order of writing.

use super::{
    cell::{self, SetCell},
    geometry::{BODY, Point, moved, sin},
    hand::{Hand, Rng, normal},
    headline::{Habit, Headline},
    joins,
    line::{self, Line},
    orthography::{Text, Word},
    page::{MARGIN, Page, Sheet, TOP},
    pen,
    writer::Shape,
};

/// Variation of the gaps between characters: the standard deviation as a share of the gap.
const GAP_VARIATION: f32 = 0.1;

/// Places `text` on pages. `shapes` holds one shape for each of [`Text::glyphs`], in the same order. The same
/// hand places the same text in the same way.
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
    let habit = Habit::new(&mut rng);
    let per_page = page.n_lines();
    let mut strokes = Vec::new();
    let mut n_pages = 1;
    for (line, i) in lines.into_iter().zip(0u16..) {
        n_pages = i / per_page + 1;
        let baseline =
            f32::from(i / per_page) * page.length + TOP + f32::from(i % per_page) * page.line_space;
        let drift = Drift::new(&mut rng);
        for stroke in line_strokes(line, habit, &mut rng) {
            let placed = stroke.into_iter().map(|[x, y]| [x + MARGIN, y + baseline - BODY + drift.at(x)]);
            strokes.push(placed.collect());
        }
    }
    let bounds = [page.width, page.length * f32::from(n_pages)];
    let strokes = strokes.into_iter().map(|s: Vec<Point>| pen::resample(&s, bounds)).collect();
    Sheet { strokes, width: page.width, page_length: page.length, n_pages }
}

fn set_word<'a>(
    word: &'a Word,
    shapes: &mut std::slice::Iter<'_, Shape>,
    gap: f32,
    rng: &mut Rng,
) -> (&'a Word, Vec<SetCell>, Vec<f32>) {
    let mut varied = || gap * (1.0 + GAP_VARIATION * normal(rng));
    let (cells, gaps) = word.cells.iter().map(|c| (cell::set(c, shapes, varied()), varied())).unzip();
    (word, cells, gaps)
}

/// The strokes of a line, word by word: the letters with the signs beside and below them, then the headline,
/// then the signs above it.
fn line_strokes(line: Line, habit: Habit, rng: &mut Rng) -> Vec<Vec<Point>> {
    let mut strokes = Vec::new();
    for word in line {
        let headline = Headline::new(&word, habit, rng);
        let line = headline.strokes(&word, rng);
        let mut above = Vec::new();
        for (x, cell) in word.cells {
            let hangs = cell.has_headline();
            for stroke in cell.strokes {
                let stroke = moved(stroke, x, 0.0);
                strokes.push(if hangs { joins::hang(stroke, &headline, rng) } else { stroke });
            }
            above.extend(cell.above.into_iter().map(|s| joins::follow(moved(s, x, 0.0), &headline)));
        }
        strokes.extend(line);
        strokes.extend(above);
    }
    strokes
}

/// How the baseline of a handwritten line deviates from a straight one: a small slope and a wave.
struct Drift {
    slope: f32,
    wave: f32,
    phase: f32,
    length: f32,
}

impl Drift {
    fn new(rng: &mut Rng) -> Self {
        Self {
            slope: 0.004 * normal(rng),
            wave: 0.7 * normal(rng),
            phase: 3.0 * normal(rng),
            length: 90.0 + 15.0 * normal(rng),
        }
    }

    fn at(&self, x: f32) -> f32 {
        self.slope * x + self.wave * sin(x / self.length + self.phase)
    }
}
