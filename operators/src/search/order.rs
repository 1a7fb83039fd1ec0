//! Which index a page reads, and which conditions it does not have.

use akhar_jobs::JobState;

use super::terms::JobSearch;

/// The index that a page reads, and so its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The newest job first.
    Newest,
    /// The job that ended last first.
    LastEnded,
    /// The job that is claimed next first, in each queue.
    NextClaimed,
}

impl Order {
    /// `order by` on a row `j`.
    pub(super) const fn columns(self) -> &'static str {
        match self {
            Self::Newest => "j.id desc",
            Self::LastEnded => "j.ended_at desc, j.id desc",
            Self::NextClaimed => "j.queue, j.priority desc, j.turn, j.run_at, j.id",
        }
    }

    pub(super) fn of(search: &JobSearch) -> Self {
        if !is_by_state(search) {
            return Self::Newest;
        }
        match search.state {
            Some(JobState::Queued) => Self::NextClaimed,
            Some(JobState::Succeeded | JobState::Cancelled) => Self::LastEnded,
            Some(JobState::Running | JobState::Failed) | None => Self::Newest,
        }
    }
}

/// Whether the state decides which index is read.
pub(super) fn is_by_state(search: &JobSearch) -> bool {
    let JobSearch { ids, account, group, request_id, .. } = search;
    ids.is_none() && account.is_none() && group.is_none() && request_id.is_none()
}

/// Whether rows that were read must be filtered: whether there is a condition that the index does not have.
pub(super) fn has_filters(search: &JobSearch) -> bool {
    let mut others = JobSearch { ids: None, account: None, group: None, request_id: None, ..search.clone() };
    if is_by_state(search) && !matches!(search.state, Some(JobState::Succeeded | JobState::Cancelled)) {
        others.state = None;
    }
    if Order::of(search) == Order::NextClaimed {
        others.queue = None;
    }
    !others.is_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::terms::{AccountName, Term as _};

    #[test]
    fn only_conditions_that_no_index_has_are_filters() {
        let of = |state| has_filters(&JobSearch { state, ..JobSearch::default() });
        assert!(!of(None) && !of(Some(JobState::Queued)) && !of(Some(JobState::Failed)));
        assert!(of(Some(JobState::Succeeded)));
        let account = JobSearch { account: AccountName::parse("shop").ok(), ..JobSearch::default() };
        assert!(!has_filters(&account));
        assert!(has_filters(&JobSearch { state: Some(JobState::Failed), ..account }));
    }
}
