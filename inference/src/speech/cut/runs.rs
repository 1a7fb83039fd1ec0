//! Finds the longest run of numbers with a property.

use std::ops::Range;

/// The longest run of numbers in `range` for which `has` is true. If several runs are equally long, it is the
/// first one; if there is none, the result is empty.
pub(crate) fn longest(range: Range<usize>, has: impl Fn(usize) -> bool) -> Range<usize> {
    let mut best = 0..0;
    let mut run = range.start..range.start;
    for i in range {
        if !has(i) {
            run.start = i + 1;
        }
        run.end = i + 1;
        if run.len() > best.len() {
            best = run.clone();
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_run_is_found() {
        let longest = |text: &str| longest(0..text.len(), |i| text.as_bytes()[i] == b'x');
        assert_eq!(longest(".xx.xxx."), 4..7);
        assert_eq!(longest("xx.xx"), 0..2);
        assert_eq!(longest("...x"), 3..4);
        assert!(longest("...").is_empty() && longest("").is_empty());
    }
}
