//! Divides the waiting places of a queue among accounts. Pure rules, without a database.

/// How many waiting jobs an account may have for each place that is free.
///
/// The rule is the dynamic threshold of Choudhury and Hahne (*Dynamic queue length thresholds for shared-memory packet
/// switches*, IEEE/ACM Transactions on Networking 6(2), 1998). The more accounts wait, the fewer places each may use,
/// and nobody has to say how many accounts there are. One account alone may use 4 of 5 places, each of two accounts 4
/// of 9, each of `n` accounts 4 of 4 n + 1. Some places always remain for accounts that have no waiting job.
const JOBS_PER_FREE_PLACE: i64 = 4;

/// The waiting jobs of a queue, as seen by one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occupancy {
    /// The number of jobs that may wait in the queue.
    pub max_waiting: i64,
    /// The number of waiting jobs of all accounts.
    pub n_waiting: i64,
    /// The number of waiting jobs of this account.
    pub n_own: i64,
    /// How many jobs of this account may wait. `None` for as many as its share.
    pub max_own: Option<i64>,
}

/// The limit that a new job would exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The number of jobs that may wait in the queue.
    Queue,
    /// The share of the queue's places that the account may use. Other accounts may still submit jobs.
    Account,
    /// The account's own quota of waiting jobs. Holds the quota.
    Quota(i64),
    /// An operator drains the queue: it accepts no job at all.
    Closed,
}

/// Why a queue does not accept a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exceeded {
    /// The limit.
    pub limit: Limit,
    /// The number of waiting jobs, of all accounts, after whose start the queue accepts the job. At least 1.
    pub n_to_start: i64,
}

impl Occupancy {
    const fn n_free(&self) -> i64 {
        self.max_waiting.saturating_sub(self.n_waiting)
    }

    /// Whether the account may add a job.
    pub fn check(&self) -> Result<(), Exceeded> {
        if let Some(quota) = self.max_own.filter(|quota| self.n_own >= *quota) {
            return Err(Exceeded { limit: Limit::Quota(quota), n_to_start: self.n_own - quota + 1 });
        }
        if self.n_free() <= 0 {
            return Err(Exceeded { limit: Limit::Queue, n_to_start: self.n_to_start() });
        }
        if self.n_own >= self.n_free().saturating_mul(JOBS_PER_FREE_PLACE) {
            return Err(Exceeded { limit: Limit::Account, n_to_start: self.n_to_start() });
        }
        Ok(())
    }

    /// The smallest number `d` of started jobs after which `n_own < 4 (n_free + d)`. Some of them may be the account's
    /// own, which only makes it sooner.
    const fn n_to_start(&self) -> i64 {
        let n_missing = self.n_own.saturating_sub(self.n_free().saturating_mul(JOBS_PER_FREE_PLACE));
        n_missing / JOBS_PER_FREE_PLACE + 1
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    /// Lets the accounts submit jobs in this order until the queue refuses them. Returns the jobs of each.
    fn fill(max_waiting: i64, order: impl Iterator<Item = u8>) -> HashMap<u8, i64> {
        let mut waiting = HashMap::new();
        for account in order {
            if occupancy(max_waiting, &waiting, account).check().is_ok() {
                *waiting.entry(account).or_insert(0) += 1;
            }
        }
        waiting
    }

    fn occupancy(max_waiting: i64, waiting: &HashMap<u8, i64>, account: u8) -> Occupancy {
        let n_own = waiting.get(&account).copied().unwrap_or(0);
        Occupancy { max_waiting, n_waiting: waiting.values().sum(), n_own, max_own: None }
    }

    #[test]
    fn one_account_leaves_a_fifth_of_the_places_to_others() {
        let waiting = fill(1000, std::iter::repeat_n(1, 2000));
        assert_eq!(waiting[&1], 800);
        let exceeded = occupancy(1000, &waiting, 1).check().unwrap_err();
        assert_eq!(exceeded, Exceeded { limit: Limit::Account, n_to_start: 1 });
        assert_eq!(occupancy(1000, &waiting, 2).check(), Ok(()));
    }

    #[test]
    fn accounts_that_submit_at_the_same_rate_get_equal_shares() {
        let waiting = fill(1000, (0..5000).map(|at| u8::try_from(at % 5).unwrap()));
        assert!(waiting.values().all(|n| (190..=191).contains(n)), "{waiting:?}");
    }

    #[test]
    fn an_account_above_its_share_waits_longer_than_for_one_job() {
        let mut waiting = fill(1000, std::iter::repeat_n(1, 2000));
        for account in 2..100 {
            waiting.insert(account, 2);
        }
        let exceeded = occupancy(1000, &waiting, 1).check().unwrap_err();
        assert_eq!(exceeded.limit, Limit::Account);
        assert!(exceeded.n_to_start > 100, "{exceeded:?}");
    }

    #[test]
    fn an_account_with_a_quota_has_no_more_jobs_than_that() {
        let with = |n_own| Occupancy { max_waiting: 1000, n_waiting: 20, n_own, max_own: Some(10) };
        assert_eq!(with(9).check(), Ok(()));
        for n_own in [10, 12] {
            let exceeded = Exceeded { limit: Limit::Quota(10), n_to_start: n_own - 9 };
            assert_eq!(with(n_own).check(), Err(exceeded));
        }
    }

    #[test]
    fn a_queue_may_be_unlimited() {
        let crowded = Occupancy { max_waiting: i64::MAX, n_waiting: 1 << 40, n_own: 1 << 40, max_own: None };
        assert_eq!(crowded.check(), Ok(()));
    }

    proptest! {
        #[test]
        fn the_queue_is_never_overfull_and_a_newcomer_is_accepted_while_a_place_is_free(
            max_waiting in 1_i64..60,
            order in proptest::collection::vec(0_u8..6, 0..200),
        ) {
            let waiting = fill(max_waiting, order.into_iter());
            let n_waiting: i64 = waiting.values().sum();
            prop_assert!(n_waiting <= max_waiting);
            prop_assert_eq!(occupancy(max_waiting, &waiting, 200).check().is_ok(), n_waiting < max_waiting);
            if max_waiting >= 5 && waiting.len() == 1 {
                prop_assert!(n_waiting < max_waiting, "one account took every place");
            }
        }

        #[test]
        fn a_refused_account_is_accepted_after_the_number_of_starts_that_it_was_told(
            max_waiting in 1_i64..60,
            order in proptest::collection::vec(0_u8..4, 0..200),
            account in 0_u8..4,
        ) {
            let waiting = fill(max_waiting, order.into_iter());
            let before = occupancy(max_waiting, &waiting, account);
            if let Err(exceeded) = before.check() {
                let n_waiting = before.n_waiting - exceeded.n_to_start;
                prop_assert_eq!(Occupancy { n_waiting, ..before }.check(), Ok(()));
                let too_early = Occupancy { n_waiting: n_waiting + 1, ..before };
                prop_assert!(too_early.check().is_err());
            }
        }
    }
}
