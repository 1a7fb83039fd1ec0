//! Planes of pixel values, and rectangles in them.

/// The longest side of a reduced picture, pixels. It limits the cost of every step after [`super::shrink`].
pub(super) const MAX_SIDE: usize = 128;

/// A half-open rectangle in pixels of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) left: usize,
    pub(super) top: usize,
    pub(super) right: usize,
    pub(super) bottom: usize,
}

impl Area {
    pub(super) fn width(&self) -> usize {
        self.right - self.left
    }

    pub(super) fn height(&self) -> usize {
        self.bottom - self.top
    }

    pub(super) fn longest(&self) -> usize {
        self.width().max(self.height())
    }

    /// The smallest rectangle around both.
    pub(super) fn union(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

/// A row or column of a reduced picture. Its length is known to the compiler, so that loops over it need no
/// checks; the values after the picture's width or height have no meaning.
pub(super) type Line<T> = [T; MAX_SIDE];

/// One value for each pixel, row by row.
#[derive(Clone)]
pub(super) struct Plane {
    pub(super) width: usize,
    pub(super) lines: Vec<Line<f32>>,
}

impl Plane {
    pub(super) fn height(&self) -> usize {
        self.lines.len()
    }

    /// The rows from top to bottom, as long as the picture is wide.
    pub(super) fn rows(&self) -> impl DoubleEndedIterator<Item = &[f32]> + ExactSizeIterator {
        self.lines.iter().map(|line| &line[..self.width])
    }
}

impl Plane {
    /// The picture with half its sides, rounded up.
    pub(super) fn halved(&self) -> Self {
        let width = self.width.div_ceil(2);
        let pairs = self.lines.chunks(2).map(|rows| {
            let (first, last) = (&rows[0], &rows[rows.len() - 1]);
            let mut sums = [0.0; MAX_SIDE];
            for ((sum, first), last) in sums.iter_mut().zip(first).zip(last) {
                *sum = first + last;
            }
            if self.width % 2 == 1 {
                sums[self.width] = sums[self.width - 1];
            }
            let mut line = [0.0; MAX_SIDE];
            for (mean, pair) in line.iter_mut().zip(sums.as_chunks::<2>().0) {
                *mean = 0.25 * (pair[0] + pair[1]);
            }
            line
        });
        Self { width, lines: pairs.collect() }
    }

    /// The picture with rows and columns exchanged.
    pub(super) fn turned(&self) -> Self {
        let mut lines = vec![[0.0; MAX_SIDE]; self.width];
        for (block, rows) in self.lines.chunks(BLOCK).enumerate() {
            let rows = std::array::from_fn(|at| &rows[at.min(rows.len() - 1)][..]);
            let mut parts = [[0.0; BLOCK]; MAX_SIDE];
            side_by_side(rows, &mut parts);
            for (line, part) in lines.iter_mut().zip(&parts) {
                line.as_chunks_mut::<BLOCK>().0[block] = *part;
            }
        }
        Self { width: self.height(), lines }
    }
}

/// Rows or columns that are computed together.
pub(super) const BLOCK: usize = 8;

/// Puts the first values of eight lines side by side, then the second ones, and so on.
pub(super) fn side_by_side<T: Copy>(lines: [&[T]; BLOCK], blocks: &mut [[T; BLOCK]]) {
    let n = lines[0].len();
    let lines = lines.map(|line| &line[..n]);
    for (at, block) in blocks[..n].iter_mut().enumerate() {
        for (value, line) in block.iter_mut().zip(&lines) {
            *value = line[at];
        }
    }
}

/// Sums `term` over the values of all rows in eight lanes, which the compiler turns into vector additions.
pub(super) fn sum<'a, T: Copy + 'a>(rows: impl Iterator<Item = &'a [T]>, term: impl Fn(T) -> f32) -> f32 {
    sums(rows, |value| (term(value), 0.0)).0
}

/// The [`sum`]s of two terms.
pub(super) fn sums<'a, T: Copy + 'a>(
    rows: impl Iterator<Item = &'a [T]>,
    terms: impl Fn(T) -> (f32, f32),
) -> (f32, f32) {
    let (mut firsts, mut seconds) = ([0.0_f32; 8], [0.0_f32; 8]);
    for row in rows {
        let (eights, rest) = row.as_chunks::<8>();
        for eight in eights {
            for ((first, second), &value) in firsts.iter_mut().zip(&mut seconds).zip(eight) {
                let terms = terms(value);
                *first += terms.0;
                *second += terms.1;
            }
        }
        for ((first, second), &value) in firsts.iter_mut().zip(&mut seconds).zip(rest) {
            let terms = terms(value);
            *first += terms.0;
            *second += terms.1;
        }
    }
    (firsts.iter().sum(), seconds.iter().sum())
}
