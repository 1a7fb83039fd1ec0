//! Pages of lists: one thing more than a page has is read, which tells whether there is a next page.

use akhar_requests::Bounded;

/// The most things in a page for which the caller sets no limit.
const DEFAULT_LIMIT: u8 = 20;

/// The most things in a page.
pub(crate) fn limit(asked: Option<Bounded<u8, 1, 100>>) -> u8 {
    asked.map_or(DEFAULT_LIMIT, Bounded::get)
}

/// How many things to read for a page of `limit`.
pub(crate) fn more(limit: u8) -> i64 {
    i64::from(limit) + 1
}

/// Cuts what was read to a page of `limit`. Returns the id after which the next page begins, if there is one.
pub(crate) fn cut<T, Id>(found: &mut Vec<T>, limit: u8, id: impl Fn(&T) -> Id) -> Option<Id> {
    let is_last = found.len() <= usize::from(limit);
    found.truncate(limit.into());
    found.last().filter(|_| !is_last).map(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_next_one_if_more_was_found() {
        for (n_found, expected) in [(0, None), (2, None), (3, Some(1))] {
            let mut found: Vec<u8> = (0..n_found).collect();
            assert_eq!(cut(&mut found, 2, |thing| *thing), expected, "{n_found}");
            assert_eq!(found.len(), usize::from(n_found.min(2)));
        }
        assert_eq!(more(100), 101);
    }
}
