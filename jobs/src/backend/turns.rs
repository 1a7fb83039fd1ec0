//! What a process knows about the waiting jobs of one queue: decides whether a new job is accepted, and gives it its
//! turn. Works on numbers only, without a database.
//!
//! Jobs of one priority are claimed in the order of their turns. This is start-time fair queuing (Goyal, Vin and Cheng,
//! *Start-time fair queueing*, IEEE/ACM Transactions on Networking 5(5), 1997) with jobs of equal length: an account's
//! next job gets the turn after its last waiting one, but no turn before those that the queue is serving now. So the
//! first job of an account is claimed before the second of any other, however many jobs the other has submitted.

use std::collections::HashMap;

use uuid::Uuid;

use crate::{
    AdmittedJob,
    fair_share::{Exceeded, Occupancy},
    store::WaitingJobs,
};

/// The number of priorities.
const N_PRIORITIES: usize = 2;

/// The waiting jobs of a queue: those of the last count, and those that this process has accepted since. Jobs that have
/// started since are still in it, so there are at most as many as it says.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    accounts: HashMap<Uuid, OfAccount>,
    /// The jobs accepted since the running count began. The count may have missed them.
    recent: HashMap<Uuid, OfAccount>,
    /// For each priority, the lowest turn of the waiting jobs at the last count.
    serving: [i64; N_PRIORITIES],
    n_jobs: i64,
}

/// The waiting jobs of one account.
#[derive(Debug, Default, Clone, Copy)]
struct OfAccount {
    n: i64,
    /// For each priority, the highest turn of the jobs.
    last_turns: [Option<i64>; N_PRIORITIES],
}

impl OfAccount {
    fn add(&mut self, n: i64, priority: i16, last_turn: i64) {
        self.n += n;
        let last = &mut self.last_turns[index(priority)];
        *last = (*last).max(Some(last_turn));
    }
}

const fn index(priority: i16) -> usize {
    if priority > 0 { 1 } else { 0 }
}

impl Waiting {
    /// Accepts a job and returns its turn, unless a limit is reached.
    pub(super) fn admit(
        &mut self,
        account_id: Uuid,
        priority: i16,
        max_waiting: i64,
        max_own: Option<i64>,
    ) -> Result<i64, Exceeded> {
        let own = self.accounts.get(&account_id).copied().unwrap_or_default();
        Occupancy { max_waiting, n_waiting: self.n_jobs, n_own: own.n, max_own }.check()?;
        let serving = self.serving[index(priority)];
        let turn = own.last_turns[index(priority)].map_or(serving, |last| serving.max(last + 1));
        self.add(account_id, priority, turn);
        Ok(turn)
    }

    fn add(&mut self, account_id: Uuid, priority: i16, turn: i64) {
        for accounts in [&mut self.accounts, &mut self.recent] {
            accounts.entry(account_id).or_default().add(1, priority, turn);
        }
        self.n_jobs += 1;
    }

    /// A count begins. It does not include the jobs that are accepted from now on, nor `not_inserted`, which were
    /// accepted before and are not in the database yet.
    pub(super) fn begin_count(&mut self, not_inserted: &[AdmittedJob]) {
        self.recent.clear();
        for AdmittedJob { job, turn } in not_inserted {
            self.recent.entry(job.account_id).or_default().add(1, job.priority(), *turn);
        }
    }

    /// The count that began last has ended with these rows.
    pub(super) fn finish_count(&mut self, counted: &[WaitingJobs]) {
        self.accounts.clone_from(&self.recent);
        let mut serving = [None; N_PRIORITIES];
        for row in counted {
            self.accounts.entry(row.account_id).or_default().add(row.n, row.priority, row.last_turn);
            let first = &mut serving[index(row.priority)];
            *first = Some(first.map_or(row.first_turn, |turn: i64| turn.min(row.first_turn)));
        }
        self.serving = serving.map(Option::unwrap_or_default);
        self.n_jobs = self.accounts.values().map(|account| account.n).sum();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const MANY: i64 = 1_000_000;

    /// A queue as workers see it: jobs sorted by turn, then by the order of their submission.
    #[derive(Default)]
    struct Queue {
        waiting: Waiting,
        jobs: BTreeMap<(i64, usize), u8>,
        n_submitted: usize,
    }

    impl Queue {
        fn submit(&mut self, account: u8) {
            let turn = self.waiting.admit(id(account), 1, MANY, None).unwrap();
            self.jobs.insert((turn, self.n_submitted), account);
            self.n_submitted += 1;
        }

        fn claim(&mut self) -> Option<u8> {
            self.jobs.pop_first().map(|(_, account)| account)
        }

        fn count(&mut self) {
            self.waiting.begin_count(&[]);
            let mut rows: BTreeMap<u8, WaitingJobs> = BTreeMap::new();
            for (&(turn, _), account) in &self.jobs {
                let row = rows.entry(*account).or_insert_with(|| row(id(*account), 0, turn, turn));
                row.n += 1;
                row.last_turn = turn;
            }
            self.waiting.finish_count(&rows.into_values().collect::<Vec<_>>());
        }
    }

    fn id(account: u8) -> Uuid {
        Uuid::from_u128(account.into())
    }

    fn row(account_id: Uuid, n: i64, first_turn: i64, last_turn: i64) -> WaitingJobs {
        let counted_at = chrono::DateTime::UNIX_EPOCH;
        WaitingJobs { account_id, priority: 1, n, n_earlier: 0, first_turn, last_turn, counted_at }
    }

    #[test]
    fn the_first_job_of_an_account_is_claimed_before_the_second_of_any_other() {
        let mut queue = Queue::default();
        for _ in 0..1000 {
            queue.submit(1);
        }
        queue.submit(2);
        queue.submit(2);
        queue.submit(3);
        let order: Vec<_> = std::iter::from_fn(|| queue.claim()).take(7).collect();
        assert_eq!(order, [1, 2, 3, 1, 2, 1, 1]);
    }

    #[test]
    fn an_account_that_was_idle_gets_no_more_than_the_others_later() {
        let mut queue = Queue::default();
        for _ in 0..1000 {
            queue.submit(1);
        }
        for _ in 0..500 {
            queue.claim();
        }
        queue.count();
        for _ in 0..100 {
            queue.submit(2);
        }
        let next = std::iter::from_fn(|| queue.claim()).take(100);
        assert_eq!(next.filter(|account| *account == 2).count(), 50);
    }

    #[test]
    fn each_priority_has_turns_of_its_own() {
        let mut waiting = Waiting::default();
        let mut turn = |priority| waiting.admit(id(1), priority, MANY, None).unwrap();
        assert_eq!([turn(0), turn(0), turn(1), turn(0), turn(1)], [0, 1, 0, 2, 1]);
    }

    #[test]
    fn jobs_accepted_during_a_count_are_added_to_it() {
        let mut waiting = Waiting::default();
        assert_eq!(waiting.admit(id(1), 1, 10, None), Ok(0));
        waiting.begin_count(&[]);
        assert_eq!(waiting.admit(id(1), 1, 10, None), Ok(1));
        waiting.finish_count(&[row(id(1), 7, 3, 9)]);
        assert_eq!(waiting.n_jobs, 8);
        assert_eq!(waiting.admit(id(2), 1, 10, None), Ok(3), "the turn that is being served");
        assert!(waiting.admit(id(1), 1, 10, None).is_err(), "8 of its jobs wait and one place is free");
    }

    proptest! {
        /// Whatever happens before, an account without waiting jobs waits for at most one job of each other account
        /// and for those that the queue was serving at the last count.
        #[test]
        fn nobody_delays_the_first_job_of_another_account(
            before in proptest::collection::vec((0_u8..5, 0_u8..3), 0..200),
            later in proptest::collection::vec(0_u8..5, 0..50),
        ) {
            let mut queue = Queue::default();
            for (account, n_claims) in before {
                queue.submit(account);
                for _ in 0..n_claims / 2 {
                    queue.claim();
                }
            }
            queue.count();
            queue.submit(9);
            for account in later {
                queue.submit(account);
            }
            let mut ahead: BTreeMap<u8, usize> = BTreeMap::new();
            while let Some(account) = queue.claim() {
                if account == 9 { break }
                *ahead.entry(account).or_default() += 1;
            }
            prop_assert!(ahead.values().all(|n| *n <= 1), "{:?}", ahead);
        }
    }
}
