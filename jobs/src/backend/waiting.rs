//! What a process knows about the waiting jobs of one queue: decides whether a new job is accepted. Works on numbers only,
//! without a database.

use std::collections::HashMap;

use uuid::Uuid;

use crate::{
    fair_share::{Exceeded, Occupancy},
    store::WaitingJobs,
};

/// The waiting jobs of a queue by account: those of the last count, and those that this process has accepted since. Jobs
/// that have started since are still in it, so there are at most as many as it says.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    accounts: HashMap<Uuid, i64>,
    /// The jobs accepted since the running count began. The count may have missed them.
    recent: HashMap<Uuid, i64>,
    n_jobs: i64,
}

impl Waiting {
    /// Accepts a job, unless a limit is reached.
    pub(super) fn admit(
        &mut self,
        account_id: Uuid,
        max_waiting: i64,
        max_own: Option<i64>,
    ) -> Result<(), Exceeded> {
        let n_own = self.accounts.get(&account_id).copied().unwrap_or(0);
        Occupancy { max_waiting, n_waiting: self.n_jobs, n_own, max_own }.check()?;
        for accounts in [&mut self.accounts, &mut self.recent] {
            *accounts.entry(account_id).or_default() += 1;
        }
        self.n_jobs += 1;
        Ok(())
    }

    /// A count begins. It does not include the jobs that are accepted from now on, nor those of the accounts
    /// `not_inserted`, which were accepted before and are not in the database yet.
    pub(super) fn begin_count(&mut self, not_inserted: &[Uuid]) {
        self.recent.clear();
        for account_id in not_inserted {
            *self.recent.entry(*account_id).or_default() += 1;
        }
    }

    /// The count that began last has ended with these rows.
    pub(super) fn finish_count(&mut self, counted: &[WaitingJobs]) {
        self.accounts.clone_from(&self.recent);
        for row in counted {
            *self.accounts.entry(row.account_id).or_default() += row.n;
        }
        self.n_jobs = self.accounts.values().sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_accepted_during_a_count_are_added_to_it() {
        let mut waiting = Waiting::default();
        let account_id = Uuid::from_u128(1);
        assert_eq!(waiting.admit(account_id, 10, None), Ok(()));
        waiting.begin_count(&[]);
        assert_eq!(waiting.admit(account_id, 10, None), Ok(()));
        let counted_at = chrono::DateTime::UNIX_EPOCH;
        waiting.finish_count(&[WaitingJobs { account_id, n: 7, n_earlier: 0, counted_at }]);
        assert_eq!(waiting.n_jobs, 8);
        assert!(waiting.admit(account_id, 10, None).is_err(), "8 of its jobs wait and two places are free");
        assert_eq!(waiting.admit(Uuid::from_u128(2), 10, None), Ok(()));
    }
}
