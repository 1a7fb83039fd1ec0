//! Divides a row of words into parts: lines of a cue, or cues. A part of more than one word must be allowed; a shorter one of
//! the same words then is too.

use std::ops::Range;

/// The fewest parts that `n` words need.
pub(super) fn fewest(n: usize, is_allowed: impl Fn(Range<usize>) -> bool) -> usize {
    let mut n_parts = 0;
    let mut start = 0;
    while start < n {
        let fits = |end: &usize| is_allowed(start..*end);
        start = (start + 2..=n).take_while(fits).last().unwrap_or(start + 1);
        n_parts += 1;
    }
    n_parts
}

/// Divides `n` words into so many parts, with the lowest sum of `cost`. There must be as many words, and no fewer parts than
/// they need.
pub(super) fn divide(
    n: usize,
    n_parts: usize,
    is_allowed: impl Fn(Range<usize>) -> bool,
    cost: impl Fn(Range<usize>) -> f64,
) -> Vec<Range<usize>> {
    // For each number of parts and of words: the lowest cost, and where the last part starts.
    let mut best = vec![vec![(f64::INFINITY, 0); n + 1]; n_parts + 1];
    best[0][0] = (0.0, 0);
    for k in 1..=n_parts {
        for end in k..=n {
            for start in (k - 1..end).rev() {
                if start + 1 < end && !is_allowed(start..end) {
                    break;
                }
                let sum = best[k - 1][start].0 + cost(start..end);
                if sum < best[k][end].0 {
                    best[k][end] = (sum, start);
                }
            }
        }
    }
    let mut parts = Vec::with_capacity(n_parts);
    let mut end = n;
    for k in (1..=n_parts).rev() {
        let start = best[k][end].1;
        parts.push(start..end);
        end = start;
    }
    parts.reverse();
    parts
}
