//! Tells which components of a picture's ink are not part of a character: lines, frames, shadows, what lies around the paper.

use super::{
    mark::{Component, Components, SPECK},
    plane::{Area, MAX_SIDE, Plane},
};

/// A component at the image's edge counts as shadow if its mean coverage is this much lower than another's.
const WEAKER: f32 = 0.07;
/// A line below the character: its least length as a share of the picture's width, its greatest thickness as a share of the
/// picture's longest side, its greatest slope, and its least length as a share of the character's width.
const UNDERLINE: (f32, f32, f32, f32) = (0.3, 0.05, 0.06, 0.6);
/// A line from edge to edge that is thinner than this share of the image is a ruled line of the paper.
const RULE: f32 = 0.035;

/// The rest of a frame: how far from the picture's edge it lies, as a share of the picture's longest side, which share of three
/// sides it has, and the least length of something else.
const FRAME: (f32, f32, f32) = (0.09, 0.2, 0.25);

impl Components {
    /// For each component, whether it is something on the paper that is no part of a character.
    pub(super) fn of_paper(&self, plane: &Plane) -> Vec<bool> {
        let is_paper = |c| is_rule(c, plane) || self.is_shadow(c, plane) || self.is_underline(c, plane);
        let mut paper: Vec<bool> = self.list.iter().map(is_paper).collect();
        if self.list.iter().any(|c| is_at_edge(c.area, plane)) {
            self.mark_frame(plane, &mut paper);
        }
        paper
    }

    /// Marks the components that are the rest of a frame, of which the picture's edge has cut off a part: they lie along three
    /// edges or four, and something else of some size does not.
    fn mark_frame(&self, plane: &Plane, paper: &mut [bool]) {
        let (width, height) = (plane.width, plane.height());
        let band = (FRAME.0 * width.max(height) as f32) as usize;
        let mut is_inside = vec![false; self.list.len()];
        let rows = || self.rows.windows(2).enumerate().map(|(y, ends)| (y, &self.runs[ends[0]..ends[1]]));
        for (_, runs) in rows().filter(|(y, _)| (band..height.saturating_sub(band)).contains(y)) {
            for run in runs.iter().filter(|run| run.end > band && run.start + band < width) {
                is_inside[run.component] = true;
            }
        }
        let longest = self.list.iter().zip(&is_inside).filter(|(_, is_inside)| **is_inside);
        let longest = longest.map(|(component, _)| component.area.longest()).max().unwrap_or(0);
        let (mut above, mut below) = (0_u128, 0_u128);
        let (mut n_left, mut n_right) = (0, 0);
        for (y, runs) in rows() {
            let bits = runs.iter().filter(|run| !is_inside[run.component]);
            let bits = bits.fold(0, |bits, run| bits | run.bits());
            above |= if y < band { bits } else { 0 };
            below |= if y + band >= height { bits } else { 0 };
            n_left += usize::from(bits.trailing_zeros() as usize <= band);
            n_right += usize::from((MAX_SIDE - bits.leading_zeros() as usize) + band >= width);
        }
        let is_long = |n: usize, side: usize| usize::from(n as f32 >= FRAME.1 * side as f32);
        let n_sides = is_long(above.count_ones() as usize, width)
            + is_long(below.count_ones() as usize, width)
            + is_long(n_left, height)
            + is_long(n_right, height);
        if n_sides >= 3 && longest as f32 > FRAME.2 * width.max(height) as f32 {
            paper.iter_mut().zip(&is_inside).for_each(|(paper, is_inside)| *paper |= !is_inside);
        }
    }

    /// Whether a component is the rest of a shadow that the paper field missed: it is at the image's edge and
    /// weaker than another component of some size.
    fn is_shadow(&self, component: &Component, plane: &Plane) -> bool {
        let stronger = |other: &Component| {
            other.n_pixels * 4 >= component.n_pixels && other.mean() > component.mean() + WEAKER
        };
        is_at_edge(component.area, plane) && self.list.iter().any(stronger)
    }

    /// Whether a component is more likely something around the character than a character: it is at the picture's edge, or
    /// it is large, and solid or a box.
    pub(super) fn may_be_surroundings(&self, plane: &Plane) -> bool {
        let speck = SPECK * self.list.iter().map(|c| c.n_pixels).max().unwrap_or(0) as f32;
        self.list.iter().enumerate().any(|(nth, component)| {
            let Component { n_pixels, area, .. } = component;
            let is_large = area.width() * 2 > plane.width && area.height() * 2 > plane.height();
            is_at_edge(*area, plane) && *n_pixels as f32 >= speck && !is_rule(component, plane)
                || is_large && (n_pixels * 5 > 2 * area.width() * area.height() || self.is_box(nth))
        })
    }

    /// Whether a component has pixels near most of each side of its bounding box, but one side at most.
    fn is_box(&self, nth: usize) -> bool {
        let area = self.list[nth].area;
        let (band_x, band_y) = (area.width() / 8, area.height() / 8);
        let (mut above, mut below) = (0, 0);
        let (mut n_left, mut n_right) = (0, 0);
        for y in area.top..area.bottom {
            let runs = self.runs[self.rows[y]..self.rows[y + 1]].iter().filter(|run| run.component == nth);
            let bits = runs.fold(0, |bits, run| bits | run.bits());
            above |= if y <= area.top + band_y { bits } else { 0 };
            below |= if y + band_y + 1 >= area.bottom { bits } else { 0 };
            n_left += usize::from(bits.trailing_zeros() as usize <= area.left + band_x);
            n_right += usize::from((MAX_SIDE - bits.leading_zeros() as usize) + band_x >= area.right);
        }
        let is_most = |n: usize, of: usize| usize::from(n * 4 >= of * 3);
        let (width, height) = (area.width(), area.height());
        let n_sides = is_most(above.count_ones() as usize, width)
            + is_most(below.count_ones() as usize, width)
            + is_most(n_left, height)
            + is_most(n_right, height);
        n_sides >= 3
    }

    /// Whether a component is a line to write on: thin, straight, nearly level, and below all others of some size, of
    /// which one is much taller.
    fn is_underline(&self, component: &Component, plane: &Plane) -> bool {
        let area = component.area;
        let (width, height) = (area.width() as f32, area.height() as f32);
        let thickness = component.n_pixels as f32 / width;
        let longest = plane.width.max(plane.height()) as f32;
        if width < UNDERLINE.0 * plane.width as f32
            || thickness > UNDERLINE.1 * longest
            || height > 1.5 * thickness + UNDERLINE.2 * width
        {
            return false;
        }
        let others = self.list.iter().filter(|c| c.area != area && c.n_pixels * 8 > component.n_pixels);
        let others = others.map(|c| c.area).reduce(Area::union);
        others.is_some_and(|others| {
            others.bottom <= area.top + 1
                && others.height() as f32 > 3.0 * height
                && width > UNDERLINE.3 * others.width() as f32
        })
    }
}

/// Whether an area touches the picture's edge.
fn is_at_edge(Area { left, top, right, bottom }: Area, plane: &Plane) -> bool {
    left == 0 || top == 0 || right == plane.width || bottom == plane.height()
}

/// Whether a component is a ruled line: thin, straight, and from one edge of the image to the opposite one.
fn is_rule(component: &Component, plane: &Plane) -> bool {
    let area = component.area;
    let (width, height) = (plane.width as f32, plane.height() as f32);
    let n_pixels = component.n_pixels as f32;
    let thin = RULE * width.max(height);
    let across = area.left == 0 && area.right == plane.width && plane.width > 16;
    let down = area.top == 0 && area.bottom == plane.height() && plane.height() > 16;
    (across && n_pixels / width <= thin && (area.height() as f32) < 0.15 * height)
        || (down && n_pixels / height <= thin && (area.width() as f32) < 0.15 * width)
}
