//! Puts the shapes of a letter and its signs together into one cell, which is one character's ink.

use super::{
    geometry::{BODY, Point, extent, moved},
    orthography::{Cell, ScaledGlyph},
    signs,
    writer::Shape,
};

/// Width of the body of a cell without a letter, page units.
const EMPTY: f32 = 0.45 * BODY;
/// A letter's body includes all ink below this y, slightly above the headline.
const LETTER_TOP: f32 = -2.0;
/// An upright sign's body includes all ink below this y, which is below the end of its hook.
const UPRIGHT_TOP: f32 = 0.15 * BODY;
/// The hook of an upright sign reaches over this share of its letter.
const HOOK: f32 = 0.75;

/// A cell's ink in page units. x = 0 is the left edge of its body, and y = 0 is the headline.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct SetCell {
    /// The letter, the upright signs beside it and the signs below it.
    pub(crate) strokes: Vec<Vec<Point>>,
    /// The signs above the letter, which are written after the headline.
    pub(crate) above: Vec<Vec<Point>>,
    /// The letter and the upright signs below the headline, from left to right.
    pub(crate) hangers: Vec<Hanger>,
    /// The right edge of the body.
    pub(crate) width: f32,
    /// How far ink above or below the body extends beyond its left and right edge, each at least 0.
    pub(crate) overhang: [f32; 2],
}

/// A letter or an upright sign below the headline.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Hanger {
    /// The left edge of its body.
    pub(crate) left: f32,
    /// The right edge of its body.
    pub(crate) right: f32,
    /// The intervals of x in which it has a headline.
    pub(crate) spans: Vec<[f32; 2]>,
}

impl Hanger {
    const fn middle(&self) -> f32 {
        f32::midpoint(self.left, self.right)
    }
}

/// Places a cell's parts. `shapes` gives one shape for each of [`Cell::parts`]; `gap` is the distance between
/// the letter and upright signs beside it, page units.
pub(crate) fn set<'a>(cell: &Cell, shapes: &mut impl Iterator<Item = &'a Shape>, gap: f32) -> SetCell {
    let mut set = SetCell::default();
    let mut next = |part: &ScaledGlyph| shapes.next().map(|s| scaled(s, part.scale)).unwrap_or_default();
    let before = cell.before.as_ref().map(&mut next);
    let base = cell.base.as_ref().map(&mut next);
    let after: Vec<Shape> = cell.after.iter().map(&mut next).collect();
    let marks: Vec<(&ScaledGlyph, Shape)> = cell.signs.iter().map(|sign| (sign, next(sign))).collect();

    let stem = before.map(|shape| set.place_upright(shape, 0.0, UPRIGHT_TOP));
    let body_left = stem.as_ref().map_or(0.0, |_| set.width + gap);
    if let Some(shape) = base {
        set.place_upright(shape, body_left, LETTER_TOP);
    } else {
        set.width = body_left + EMPTY;
    }
    let body = [body_left, set.width];
    if let Some(strokes) = stem {
        let at = set.hangers.first().map_or(0.0, Hanger::middle);
        set.stretch_hook(strokes, at, HOOK * (body[1] - at));
    }
    for shape in after {
        let left = set.width + gap;
        let strokes = set.place_upright(shape, left, UPRIGHT_TOP);
        let at = set.hangers.last().map_or(left, Hanger::middle);
        set.stretch_hook(strokes, at, HOOK * (at - body[0]));
    }
    for (sign, shape) in marks {
        let strokes = if sign.scale < 1.0 { signs::below_letter(shape.strokes) } else { shape.strokes };
        let is_below = signs::is_below(&strokes);
        let placed = signs::place(strokes, is_below, (body, sign.at), set.width, set.ink());
        if is_below { &mut set.strokes } else { &mut set.above }.extend(placed);
    }
    set.overhang = overhang(set.ink(), set.width);
    set
}

impl SetCell {
    /// Whether the cell has a headline.
    pub(crate) fn has_headline(&self) -> bool {
        self.hangers.iter().any(|h| !h.spans.is_empty())
    }

    /// The points of all strokes.
    fn ink(&self) -> impl Iterator<Item = &Point> {
        self.strokes.iter().chain(&self.above).flatten()
    }

    /// Adds a shape so that its body, which is its ink below `top`, begins at x = `left`. Returns the indices
    /// of its strokes.
    fn place_upright(&mut self, shape: Shape, left: f32, top: f32) -> std::ops::Range<usize> {
        let [from, to] = body_extent(&shape.strokes, top);
        let dx = left - from;
        let first = self.strokes.len();
        self.strokes.extend(shape.strokes.into_iter().map(|s| moved(s, dx, 0.0)));
        self.width = to + dx;
        let spans = shape.head.iter().map(|[a, b]| [a + dx, b + dx]).collect();
        self.hangers.push(Hanger { left, right: self.width, spans });
        first..self.strokes.len()
    }

    /// Stretches the part of these strokes above the headline horizontally, so that it reaches as far as
    /// `reach` from the stem at x = `at`.
    fn stretch_hook(&mut self, strokes: std::ops::Range<usize>, at: f32, reach: f32) {
        let strokes = &mut self.strokes[strokes];
        let above = strokes.iter().flatten().filter(|p| p[1] < 0.0);
        let reached = above.map(|p| (p[0] - at).abs()).fold(0.0, f32::max);
        if reached < 0.15 * BODY {
            return;
        }
        let factor = (reach / reached).clamp(0.6, 1.7);
        for point in strokes.iter_mut().flatten().filter(|p| p[1] < 0.0) {
            // Points near the headline move less than points further up, so that the stroke stays smooth.
            let share = (-point[1] / (0.15 * BODY)).min(1.0);
            point[0] = at + (point[0] - at) * (1.0 + (factor - 1.0) * share);
        }
    }
}

fn scaled(shape: &Shape, scale: f32) -> Shape {
    let scaled = |p: &Point| [p[0] * scale, p[1] * scale];
    Shape {
        strokes: shape.strokes.iter().map(|s| s.iter().map(scaled).collect()).collect(),
        head: shape.head.iter().map(scaled).collect(),
    }
}

/// The left and right edge of the ink below `top`, or of all ink if there is none below `top`.
fn body_extent(strokes: &[Vec<Point>], top: f32) -> [f32; 2] {
    let points = || strokes.iter().flatten();
    extent(points().filter(|p| p[1] > top)).or_else(|| extent(points())).unwrap_or_default()
}

fn overhang<'a>(ink: impl Iterator<Item = &'a Point>, width: f32) -> [f32; 2] {
    let [from, to] = extent(ink).unwrap_or([0.0, width]);
    [(-from).max(0.0), (to - width).max(0.0)]
}
