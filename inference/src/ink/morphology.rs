//! Grey-scale morphological closing and opening of the small grid on which the paper is estimated.

use super::plane::{BLOCK, side_by_side};

/// The longest side of a grid, cells.
pub(super) const MAX_CELLS: usize = 40;

/// A row or column of a grid. The values after the grid's width or height have no meaning.
type Line = [i16; MAX_CELLS];

/// One value for each cell, row by row. Sixteen bits are exact enough for the brightness of paper, and eight
/// of them fit into a vector register.
pub(super) struct Grid {
    pub(super) width: usize,
    pub(super) lines: Vec<Line>,
}

impl Grid {
    pub(super) fn height(&self) -> usize {
        self.lines.len()
    }

    /// The rows from top to bottom, as long as the grid is wide.
    pub(super) fn rows(&self) -> impl DoubleEndedIterator<Item = &[i16]> + ExactSizeIterator {
        self.lines.iter().map(|line| &line[..self.width])
    }

    /// Closing with a square window of `2 * reach + 1` cells, clipped at the grid's edges. It removes dark
    /// marks that are narrower than the window.
    pub(super) fn closed(&self, reach: usize) -> Self {
        self.filtered(reach, [i16::MIN, i16::MAX], i16::max, i16::min)
    }

    /// Opening with such a window, which removes light marks.
    pub(super) fn opened(&self, reach: usize) -> Self {
        self.filtered(reach, [i16::MAX, i16::MIN], i16::min, i16::max)
    }

    /// The extremes (as `first` chooses them) of all windows, and then the extremes of these (as `second`
    /// chooses them). Cells beyond the edges have the values `neutral`.
    fn filtered(
        &self,
        reach: usize,
        neutral: [i16; 2],
        first: impl Fn(i16, i16) -> i16 + Copy,
        second: impl Fn(i16, i16) -> i16 + Copy,
    ) -> Self {
        // A square window is one along the columns and one along the rows, in either order.
        let along_columns = extremes(&self.lines, reach, neutral[0], first);
        let along_rows = extremes(&turned(&along_columns, self.width), reach, neutral[0], first);
        let along_rows = extremes(&along_rows, reach, neutral[1], second);
        let lines = extremes(&turned(&along_rows, self.height()), reach, neutral[1], second);
        Self { width: self.width, lines }
    }
}

/// For each line, the extremes of the lines from `reach` before it to `reach` after it. Each pass doubles the
/// window by combining two smaller windows; in the last pass the two windows overlap.
fn extremes(source: &[Line], reach: usize, neutral: i16, pick: impl Fn(i16, i16) -> i16) -> Vec<Line> {
    let window = 2 * reach + 1;
    let mut lines = Vec::with_capacity(reach + source.len());
    lines.resize(reach, [neutral; MAX_CELLS]);
    lines.extend_from_slice(source);
    let mut size = 1;
    while size < window {
        let shift = size.min(window - size);
        for later in shift..lines.len() {
            let values = lines[later];
            for (extreme, value) in lines[later - shift].iter_mut().zip(values) {
                *extreme = pick(*extreme, value);
            }
        }
        size += shift;
    }
    lines.truncate(source.len());
    lines
}

/// The first `n` columns as lines.
fn turned(lines: &[Line], n: usize) -> Vec<Line> {
    let mut columns = vec![[0; MAX_CELLS]; n];
    let mut parts_of_columns = [[0; BLOCK]; MAX_CELLS];
    for (block, lines) in lines.chunks(BLOCK).enumerate() {
        side_by_side(std::array::from_fn(|at| &lines[at.min(lines.len() - 1)][..]), &mut parts_of_columns);
        for (column, part) in columns.iter_mut().zip(&parts_of_columns) {
            column.as_chunks_mut::<BLOCK>().0[block] = *part;
        }
    }
    columns
}
