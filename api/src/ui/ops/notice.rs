//! What an action did. The page that follows it says so: the action sends the browser there with this in the query.

use maud::{Markup, html};
use serde::Deserialize;

use super::format::number;

/// What an action did, as it is in the query of the page that follows.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Done {
    #[serde(rename = "done")]
    kind: Option<Kind>,
    #[serde(default)]
    n: u32,
    #[serde(default)]
    of: u32,
}

/// A kind of action.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// Jobs wait again.
    Retried,
    /// Jobs are cancelled.
    Cancelled,
    /// Jobs are deleted.
    Deleted,
    /// The mode of a queue is set.
    Queue,
    /// A worker is drained, or works again.
    Worker,
    /// A key is revoked.
    Revoked,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Retried => "retried",
            Self::Cancelled => "cancelled",
            Self::Deleted => "deleted",
            Self::Queue => "queue",
            Self::Worker => "worker",
            Self::Revoked => "revoked",
        }
    }
}

/// The page that follows an action which changed `n` of `of` things.
pub(super) fn after(page: &str, kind: Kind, n: usize, of: usize) -> String {
    let mark = if page.contains('?') { '&' } else { '?' };
    format!("{page}{mark}done={}&n={n}&of={of}", kind.name())
}

/// The path of a page without what a former action did.
pub(super) fn without(page: &str) -> &str {
    page.find("done=").map_or(page, |at| page[..at].trim_end_matches(['?', '&']))
}

/// The text about an action.
pub(super) fn show(done: &Done) -> Markup {
    let Some(kind) = done.kind else { return html! {} };
    let (n, of) = (number(done.n.into()), number(done.of.into()));
    let sentence = match kind {
        Kind::Retried => format!("{n} of {of} jobs wait again."),
        Kind::Cancelled => format!("{n} of {of} jobs were cancelled."),
        Kind::Deleted => format!("{n} of {of} jobs were deleted."),
        Kind::Queue => "The mode of the queue is set. Workers follow within about a second.".to_owned(),
        Kind::Worker => "The worker follows within about a second.".to_owned(),
        Kind::Revoked => "The key is revoked. It stops working at once.".to_owned(),
    };
    let is_partial = done.n < done.of;
    html! {
        p.notice.partial[is_partial] role="status" {
            (sentence)
            @if is_partial { " The others are not in a state in which that is possible, or are gone." }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_follows_an_action_and_forgets_it() {
        let page = after("/ops/jobs?state=failed", Kind::Retried, 2, 3);
        assert_eq!(page, "/ops/jobs?state=failed&done=retried&n=2&of=3");
        assert_eq!(without(&page), "/ops/jobs?state=failed");
        assert_eq!(without(&after("/ops", Kind::Queue, 1, 1)), "/ops");
    }
}
