//! Finds the paper in a picture that shows more than paper: the lines of a form, a table, the edge of a scanner.
//!
//! The paper is a quadrilateral around the character. Each of its sides is an edge of the picture, or a straight edge
//! between dark and light that goes from one neighbouring side to the other. The character is inside, and touches none of
//! them. So the bars and the headline of a character are no sides: other strokes touch them, or they end before the
//! neighbouring sides. Straight edges are found by a Hough transform for few slopes (Duda and Hart, "Use of the Hough
//! Transformation to Detect Lines and Curves in Pictures", 1972).

use super::{
    plane::{Area, MAX_SIDE, Plane},
    shrink::Shrunk,
};

/// The difference of brightness across an edge, as a share of the picture's range.
const STEP: f32 = 0.1;
/// The lowest range of brightness that a picture with lines has.
const MIN_RANGE: f32 = 0.08;
/// The slopes of lines are multiples of 1 / this, from `-N_SLOPES` to `N_SLOPES` times.
const PER_SLOPE: i32 = 40;
const N_SLOPES: i32 = 7;
/// How far such a line can be from its middle, pixels, and a little more.
const PAD: i32 = 8;
/// A row with so many pixels more on both sides.
type Row = [u8; SIDE + 2 * PAD as usize];
/// The lowest share of the picture's side that a line covers.
const MIN_LENGTH: f32 = 0.4;
/// The lowest share of a quadrilateral's side that is an edge.
const CLOSED: f32 = 0.9;
/// The lowest share of the picture's side that the paper has.
const MIN_PAPER: f32 = 0.3;
/// Paper with sides below this share of the picture's is looked for last: the bars of a character may enclose as much.
const USUAL_PAPER: f32 = 0.55;
/// The lowest contrast of a quadrilateral's weakest side, as a share of that of the best one. The lines of ruled paper are
/// weaker than the edge of the paper.
const WEAKEST: f32 = 0.35;
/// Lines of one orientation at most.
const MAX_LINES: usize = 12;
/// The longest side of a picture in which lines are sought, pixels.
const SIDE: usize = MAX_SIDE / 2;
/// How far inside of its sides the paper begins, pixels: an edge is no sharper.
const INSET: f32 = 2.0;
/// The greatest thickness of a line around a small paper, as a share of the paper's shorter side. A thicker one is a stroke of a
/// character that encloses the rest, unless it goes on to the picture's edge.
const MAX_THICKNESS: f32 = 0.2;

/// A line across the picture, in one of two orientations: upright, or level with x and y exchanged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Line {
    /// x in the picture's middle row.
    at: f32,
    /// How much x grows with y.
    slope: f32,
}

impl Line {
    /// x at a distance from the middle row.
    fn x(self, from_middle: f32) -> f32 {
        self.at + self.slope * from_middle
    }
}

/// A quadrilateral in a picture of `width` x `height` pixels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paper {
    width: f32,
    height: f32,
    left: Line,
    right: Line,
    top: Line,
    bottom: Line,
}

impl Paper {
    /// Its left, right, top and bottom sides.
    pub(super) fn sides(&self) -> [Line; 4] {
        [self.left, self.right, self.top, self.bottom]
    }

    /// Which of them are edges of the picture.
    pub(super) fn is_at_edge(&self) -> [bool; 4] {
        let edges = [0.0, self.width, 0.0, self.height];
        std::array::from_fn(|nth| self.sides()[nth] == Line { at: edges[nth], slope: 0.0 })
    }

    /// Whether it is smaller than paper usually is.
    pub(super) fn is_small(&self) -> bool {
        self.right.at - self.left.at < USUAL_PAPER * self.width - 2.0 * INSET
            || self.bottom.at - self.top.at < USUAL_PAPER * self.height - 2.0 * INSET
    }

    /// Its bounding box in a picture of this size.
    pub(super) fn bounds(&self, whole: Area) -> Area {
        let (half_width, half_height) = (self.width / 2.0, self.height / 2.0);
        let least = |line: Line, half: f32| line.x(-half).min(line.x(half)).max(0.0);
        let most = |line: Line, half: f32| line.x(-half).max(line.x(half));
        let scale_x = whole.width() as f32 / self.width;
        let scale_y = whole.height() as f32 / self.height;
        let left = (least(self.left, half_height) * scale_x) as usize;
        let top = (least(self.top, half_width) * scale_y) as usize;
        Area {
            left,
            top,
            right: ((most(self.right, half_height) * scale_x).ceil() as usize).clamp(left + 1, whole.right),
            bottom: ((most(self.bottom, half_width) * scale_y).ceil() as usize).clamp(top + 1, whole.bottom),
        }
    }

    /// Replaces what is outside by the nearest paper in the same row or column. `picture` shows `part` of the whole.
    pub(super) fn fill_outside(&self, picture: &mut Shrunk, part: Area, whole: Area) {
        let (width, height) = (picture.width, picture.height);
        // From a pixel of the part to the picture of `self`, and back.
        let there = |at: usize, first: usize, n: usize, of: usize, whole: usize, to: f32| {
            (first as f32 + (at as f32 + 0.5) * n as f32 / of as f32) * to / whole as f32
        };
        let back = |x: f32, first: usize, n: usize, of: usize, whole: usize, from: f32| {
            let x = (x * whole as f32 / from - first as f32) * of as f32 / n as f32;
            x.clamp(0.0, of as f32)
        };
        let rows: Vec<_> = (0..height)
            .map(|y| {
                let y = there(y, part.top, part.height(), height, whole.height(), self.height)
                    - self.height / 2.0;
                let x =
                    |line: Line| back(line.x(y), part.left, part.width(), width, whole.width(), self.width);
                (x(self.left).ceil() as usize, x(self.right) as usize)
            })
            .collect();
        let columns: Vec<_> = (0..width)
            .map(|x| {
                let x =
                    there(x, part.left, part.width(), width, whole.width(), self.width) - self.width / 2.0;
                let y = |line: Line| {
                    back(line.x(x), part.top, part.height(), height, whole.height(), self.height)
                };
                (y(self.top).ceil() as usize, y(self.bottom) as usize)
            })
            .collect();
        picture.each_channel(|channel| {
            for (y, &(left, right)) in rows.iter().enumerate() {
                if left >= right {
                    continue;
                }
                let (first, last) = (channel[left][y], channel[right - 1][y]);
                channel[..left].iter_mut().for_each(|column| column[y] = first);
                channel[right..].iter_mut().for_each(|column| column[y] = last);
            }
            for (column, &(top, bottom)) in channel.iter_mut().zip(&columns) {
                if top >= bottom {
                    continue;
                }
                let (first, last) = (column[top], column[bottom - 1]);
                column[..top].fill(first);
                column[bottom..height].fill(last);
            }
        });
    }
}

/// A picture of brightness that is small enough to look for lines in it.
pub(super) struct Outline(Plane);

impl Outline {
    pub(super) fn of(grey: &Plane) -> Self {
        Self(if grey.width.max(grey.height()) > SIDE { grey.halved() } else { grey.clone() })
    }

    /// Whether what encloses the paper are thin lines, or something darker up to the picture's edge. Each side is looked at in three
    /// places.
    pub(super) fn has_thin_sides(&self, paper: &Paper) -> bool {
        let Self(grey) = self;
        let value = |x: f32, y: f32| {
            let is_inside = (0.0..grey.width as f32).contains(&x) && (0.0..grey.height() as f32).contains(&y);
            is_inside.then(|| grey.lines[y as usize][x as usize])
        };
        let sides = paper.sides();
        let [left, right, top, bottom] = sides;
        let shorter = (right.at - left.at).min(bottom.at - top.at);
        let is_thin_at = |nth: usize, share: f32| {
            let outward = if nth.is_multiple_of(2) { -1.0 } else { 1.0 };
            let (start, end, half) = match nth {
                0 | 1 => (top.at, bottom.at, paper.height / 2.0),
                _ => (left.at, right.at, paper.width / 2.0),
            };
            let along = start + share * (end - start);
            let at = |steps: f32| {
                let across = sides[nth].x(along - half) + outward * steps;
                if nth < 2 { value(across, along) } else { value(along, across) }
            };
            let Some(on_paper) = at(-INSET) else { return true };
            let differences = (0_u8..).map_while(|step| Some(on_paper - at(f32::from(step))?));
            let differences: Vec<f32> = differences.collect();
            let most = differences
                .iter()
                .take(2 * INSET as usize + 2)
                .fold(0.0, |most: f32, d| if d.abs() > most.abs() { *d } else { most });
            let is_beside = |d: &&f32| **d / most <= 0.5;
            let around = differences.iter().skip_while(is_beside);
            let n = around.clone().take_while(|d| !is_beside(d)).count();
            (most > 0.0 && n == around.count()) || n as f32 <= MAX_THICKNESS * shorter
        };
        let is_edge = paper.is_at_edge();
        let is_thin =
            |nth: usize| [0.25, 0.5, 0.75].into_iter().filter(|share| is_thin_at(nth, *share)).count() > 1;
        (0..4).filter(|nth| !is_edge[*nth]).all(is_thin)
    }

    /// The quadrilaterals that may be the paper, the likeliest first: not the whole picture, and rather small ones.
    pub(super) fn papers(&self) -> Vec<Paper> {
        let Self(grey) = self;
        let (width, height) = (grey.width, grey.height());
        let mut range = (f32::MAX, f32::MIN);
        for &value in grey.rows().flatten() {
            range = (
                if value < range.0 { value } else { range.0 },
                if value > range.1 { value } else { range.1 },
            );
        }
        let range = range.1 - range.0;
        if range < MIN_RANGE || width.min(height) < 16 {
            return Vec::new();
        }
        let upright = Edges::of(grey.rows(), width, STEP * range).lines();
        let turned = grey.turned();
        let level = Edges::of(turned.rows(), height, STEP * range).lines();
        quadrilaterals(&upright, &level, width as f32, height as f32)
    }
}

/// A line, and how many pixels of it before each row are an edge.
struct Side {
    line: Line,
    n_before: Vec<u8>,
    /// The mean difference of brightness across these pixels.
    contrast: f32,
}

impl Side {
    /// The share of the rows from `start` to `end` in which the line is an edge.
    fn share(&self, start: f32, end: f32) -> f32 {
        let last = self.n_before.len() - 1;
        let row = |y: f32| (y.round().max(0.0) as usize).min(last);
        let (start, end) = (row(start), row(end));
        if end <= start {
            return 0.0;
        }
        f32::from(self.n_before[end] - self.n_before[start]) / (end - start) as f32
    }
}

/// The pixels where brightness rises to the right, and those where it falls: 1, and 0 elsewhere. Neighbours of such a pixel
/// in its row count too.
struct Edges {
    width: usize,
    differences: Vec<[f32; SIDE]>,
    signs: [Vec<Row>; 2],
}

impl Edges {
    fn of<'a>(rows: impl Iterator<Item = &'a [f32]>, width: usize, step: f32) -> Self {
        let mut signs = [Vec::new(), Vec::new()];
        let mut all = Vec::new();
        for row in rows {
            let mut differences = [0.0_f32; SIDE];
            for (difference, pair) in differences[1..].iter_mut().zip(row.windows(3)) {
                *difference = pair[2] - pair[0];
            }
            for (lines, sign) in signs.iter_mut().zip([1.0, -1.0]) {
                let mut at = [0_u8; SIDE];
                for (at, difference) in at.iter_mut().zip(&differences) {
                    *at = u8::from(sign * difference > step);
                }
                let mut near = [0; SIDE + 2 * PAD as usize];
                let inner = near[PAD as usize + 1..].iter_mut().zip(&at).zip(&at[1..]).zip(&at[2..]);
                for (((near, left), here), right) in inner {
                    *near = left | here | right;
                }
                lines.push(near);
            }
            all.push(differences);
        }
        Self { width, differences: all, signs }
    }

    /// The longest lines, of both signs.
    fn lines(&self) -> Vec<Side> {
        let mut sides: Vec<Side> = Vec::new();
        for rows in &self.signs {
            let height = rows.len();
            let n_rows = i32::try_from(height).unwrap_or(0);
            let middle = height as f32 / 2.0;
            let mut found = Vec::new();
            for nth in -N_SLOPES..=N_SLOPES {
                let slope = nth as f32 / PER_SLOPE as f32;
                let mut counts = [0_u8; SIDE];
                for (row, y) in rows.iter().zip(0..) {
                    // The line's distance from the middle column, rounded, and PAD.
                    let twice = nth * (2 * y + 1 - n_rows) + (2 * PAD + 1) * PER_SLOPE;
                    let window = row[(twice / (2 * PER_SLOPE)) as usize..].first_chunk::<SIDE>();
                    let Some(window) = window else { continue };
                    for (count, edge) in counts.iter_mut().zip(window) {
                        *count = count.wrapping_add(*edge);
                    }
                }
                let least = (MIN_LENGTH * height as f32) as u8;
                let long = counts.iter().zip(0_u8..).filter(|(count, _)| **count >= least);
                found.extend(long.map(|(&count, x)| (count, Line { at: f32::from(x) + 0.5, slope })));
            }
            let mut lines: Vec<Line> = Vec::new();
            while lines.len() < MAX_LINES / 2 {
                let longest = found.iter().copied().reduce(|best, other| {
                    let rank = |(n, line): (u8, Line)| (n, -line.slope.abs());
                    if rank(other) > rank(best) { other } else { best }
                });
                let Some((_, line)) = longest else { break };
                found.retain(|(_, other)| {
                    let distance = |y: f32| (line.x(y) - other.x(y)).abs();
                    distance(-middle).min(distance(middle)).min(distance(0.0)) >= 2.0
                });
                lines.push(line);
            }
            sides.extend(lines.into_iter().map(|line| self.side(rows, line)));
        }
        sides.sort_by(|a, b| a.line.at.total_cmp(&b.line.at));
        sides
    }

    fn side(&self, rows: &[Row], line: Line) -> Side {
        let middle = rows.len() as f32 / 2.0;
        let inside = 1.0..self.width as f32 - 1.0;
        let (mut n, mut n_edges, mut sum) = (0, 0.0, 0.0);
        let mut n_before = vec![0];
        for ((row, differences), y) in rows.iter().zip(&self.differences).zip(0_u8..) {
            let x = line.x(f32::from(y) + 0.5 - middle);
            if !inside.contains(&x) {
                // Here the picture's edge is the side.
                n += 1;
            } else if row[PAD as usize + x as usize] > 0 {
                n += 1;
                n_edges += 1.0;
                let near = &differences[x as usize - 1..(x as usize + 2).min(SIDE)];
                sum += near.iter().fold(0.0, |most: f32, difference| most.max(difference.abs()));
            }
            n_before.push(n);
        }
        Side { line, n_before, contrast: if n_edges > 0.0 { sum / n_edges } else { 0.0 } }
    }
}

/// One of the sides, or an edge of the picture.
type End = (Option<usize>, Line);

/// Two ends, opposite each other.
struct Pair {
    ends: [End; 2],
    /// A bit for each side that is one of the ends.
    own: u16,
    /// A bit for each side of the other orientation that goes from one end to the other.
    between: u16,
}

/// The pairs of such sides and the picture's edges that are far enough apart. `across`: the sides of the other orientation;
/// `end` and `across_end`: the picture's size in the direction of either.
fn pairs(sides: &[Side], across: &[Side], end: f32, across_end: f32) -> Vec<Pair> {
    let edge = |at: f32| (None, Line { at, slope: 0.0 });
    let sides = sides.iter().enumerate().map(|(nth, side)| (Some(nth), side.line));
    let all: Vec<End> = std::iter::once(edge(0.0)).chain(sides).chain([edge(end)]).collect();
    let bit = |(nth, _): End| nth.map_or(0, |nth| 1 << nth);
    let mut pairs = Vec::new();
    for (nth, &first) in all.iter().enumerate() {
        let far = all[nth + 1..].iter().filter(|second| second.1.at - first.1.at >= MIN_PAPER * end);
        pairs.extend(far.map(|&second| {
            let goes_between = |side: &Side| {
                let [start, end] = [first, second].map(|(_, line)| line.x(side.line.at - across_end / 2.0));
                side.share(start, end) >= CLOSED
            };
            let between = across.iter().enumerate().filter(|(_, side)| goes_between(side));
            let between = between.fold(0, |bits, (nth, _)| bits | 1 << nth);
            Pair { ends: [first, second], own: bit(first) | bit(second), between }
        }));
    }
    pairs
}

/// The closed quadrilaterals of such sides and the picture's edges.
fn quadrilaterals(upright: &[Side], level: &[Side], width: f32, height: f32) -> Vec<Paper> {
    let level_pairs = pairs(level, upright, height, width);
    let mut found = Vec::new();
    for Pair { ends: [left, right], own, between } in pairs(upright, level, width, height) {
        for level_pair in &level_pairs {
            let is_closed = own & !level_pair.between == 0 && level_pair.own & !between == 0;
            if own | level_pair.own == 0 || !is_closed {
                continue;
            }
            let [top, bottom] = level_pair.ends;
            let area = (right.1.at - left.1.at) * (bottom.1.at - top.1.at);
            let inset = |side: (Option<usize>, Line), by: f32| {
                if side.0.is_some() { Line { at: side.1.at + by, ..side.1 } } else { side.1 }
            };
            let paper = Paper {
                width,
                height,
                left: inset(left, INSET),
                right: inset(right, -INSET),
                top: inset(top, INSET),
                bottom: inset(bottom, -INSET),
            };
            let contrasts = [(left, upright), (right, upright), (top, level), (bottom, level)];
            let contrasts = contrasts.map(|(side, sides)| side.0.map_or(f32::MAX, |nth| sides[nth].contrast));
            let is_usual = right.1.at - left.1.at >= USUAL_PAPER * width
                && bottom.1.at - top.1.at >= USUAL_PAPER * height;
            found.push((
                if is_usual { area } else { width * height + area },
                contrasts.into_iter().fold(f32::MAX, f32::min),
                paper,
            ));
        }
    }
    let best = found.iter().fold(0.0, |best: f32, (_, contrast, _)| best.max(*contrast));
    found.retain(|(_, contrast, _)| *contrast >= WEAKEST * best);
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found.into_iter().map(|(.., paper)| paper).collect()
}
