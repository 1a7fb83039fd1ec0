//! What an action did. The page that follows it says so: the action sends the browser there with this in the query.

use akhar_operators::Change;
use maud::{Markup, html};
use serde::Deserialize;

use super::format::number;

/// What an action did, as it is in the query of the page that follows.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Done {
    #[serde(rename = "done")]
    kind: String,
    n: u32,
    of: u32,
}

/// A kind of action.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// Jobs are changed.
    Jobs(Change),
    /// The mode of a queue is set.
    Queue,
    /// A worker is drained, or works again.
    Worker,
    /// Webhooks are sent again.
    Redelivered,
    /// A key is revoked.
    Revoked,
    /// A key expires at another time.
    Expiry,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Jobs(change) => change.facts().past,
            Self::Queue => "queue",
            Self::Worker => "worker",
            Self::Redelivered => "redelivered",
            Self::Revoked => "revoked",
            Self::Expiry => "expiry",
        }
    }

    /// The kind with this name.
    fn from_name(name: &str) -> Option<Self> {
        let of_jobs = Change::ALL.into_iter().map(Self::Jobs);
        of_jobs
            .chain([Self::Queue, Self::Worker, Self::Redelivered, Self::Revoked, Self::Expiry])
            .find(|kind| kind.name() == name)
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
    let Some(kind) = Kind::from_name(&done.kind) else { return html! {} };
    let (n, of) = (number(done.n.into()), number(done.of.into()));
    let sentence = match kind {
        Kind::Jobs(change) => format!("{n} of {of} jobs {}.", change.facts().became),
        Kind::Queue => "The mode of the queue is set. Workers follow within about a second.".to_owned(),
        Kind::Worker => "The worker follows within about a second.".to_owned(),
        Kind::Redelivered => format!("{n} of {of} webhooks are sent again now."),
        Kind::Revoked => "The key is revoked. It stops working at once.".to_owned(),
        Kind::Expiry => "The key expires at another time, or never.".to_owned(),
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
        let page = after("/ops/jobs?state=failed", Kind::Jobs(Change::Retry), 2, 3);
        assert_eq!(page, "/ops/jobs?state=failed&done=retried&n=2&of=3");
        assert_eq!(without(&page), "/ops/jobs?state=failed");
        assert_eq!(without(&after("/ops", Kind::Queue, 1, 1)), "/ops");
    }
}
