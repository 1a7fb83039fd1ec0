//! Divides words into lines that are not wider than the page, and gives each cell its position on its line.

use super::{cell::SetCell, orthography::Word, page::Page};

/// The smallest distance between signs of neighbouring cells, as a share of the gap.
const OVERHANG_SHARE: f32 = 0.6;

/// Extra distance between a cell with a headline and a following cell without one (a danda, a digit, a
/// punctuation mark), page units.
const LETTER_TO_MARK: f32 = 5.0;

/// The cells of a word with the x of each, or of the part of a word that fits on one line.
#[derive(Debug, Default)]
pub(crate) struct SetWord {
    pub(crate) cells: Vec<(f32, SetCell)>,
}

/// The words of a line from left to right.
pub(crate) type Line = Vec<SetWord>;

/// Divides words into lines as wide as the page without its margins. Each line begins at x = 0.
///
/// Each word comes with its cells and the gap before each cell; the gap before the first cell is not used.
pub(crate) fn wrap(words: Vec<(&Word, Vec<SetCell>, Vec<f32>)>, page: &Page, gap: f32) -> Vec<Line> {
    let mut lines = vec![Line::new()];
    let mut x = 0.0;
    for (word, cells, gaps) in words {
        let space = if x > 0.0 { page.word_gap() * f32::from(word.n_spaces.max(1)) } else { 0.0 };
        let steps = steps(&cells, &gaps, gap);
        let width: f32 = steps.iter().sum::<f32>() + cells.iter().map(|c| c.width).sum::<f32>();
        let last_overhang = cells.last().map_or(0.0, |c| c.overhang[1]);
        if x > 0.0 && x + space + width + last_overhang > page.line_width() {
            lines.push(Line::new());
            x = 0.0;
        } else {
            x += space;
        }
        let mut set = SetWord::default();
        for (cell, step) in cells.into_iter().zip(steps) {
            let at = x + step;
            let is_first = set.cells.is_empty();
            if !is_first && at + cell.width + cell.overhang[1] > page.line_width() {
                push(&mut lines, std::mem::take(&mut set));
                lines.push(Line::new());
                x = cell.overhang[0];
            } else {
                x = at;
            }
            let width = cell.width;
            set.cells.push((x, cell));
            x += width;
        }
        push(&mut lines, set);
    }
    lines
}

fn push(lines: &mut [Line], word: SetWord) {
    if let Some(line) = lines.last_mut() {
        line.push(word);
    }
}

/// The distance from the end of each cell's predecessor to the beginning of the cell. It is larger than the
/// gap where signs would otherwise be too close to each other.
fn steps(cells: &[SetCell], gaps: &[f32], gap: f32) -> Vec<f32> {
    let mut steps = Vec::with_capacity(cells.len());
    let mut reach = 0.0;
    for (i, cell) in cells.iter().enumerate() {
        let needed = reach + cell.overhang[0] + if i == 0 { 0.0 } else { OVERHANG_SHARE * gap };
        let own = if i == 0 { 0.0 } else { gaps.get(i).copied().unwrap_or(gap) };
        let ends_headline = i > 0 && cells[i - 1].has_headline() && !cell.has_headline();
        let own = own + if ends_headline { LETTER_TO_MARK } else { 0.0 };
        steps.push(own.max(if reach + cell.overhang[0] > 0.0 { needed } else { 0.0 }));
        reach = cell.overhang[1];
    }
    steps
}
