//! Requests that wait for a model, by account. Accounts take turns by the cost of what the model runs for them. Those of an
//! account for which somebody waits are before its others.
//!
//! This is start-time fair queuing (Goyal, Vin and Cheng, *Start-time fair queueing*, IEEE/ACM Transactions on
//! Networking 5(5), 1997). Each account has a virtual time, which grows by the cost of each of its requests. The request
//! of the account with the lowest time is next. An account that had nothing to run begins at the time that is being
//! served, so it neither saves turns up nor pays for those of others.

use std::collections::VecDeque;

use uuid::Uuid;

/// How many requests of an account for which somebody waits may come between two others of it. So its asynchronous jobs go on
/// beside many of those.
const WAITING_IN_A_ROW: u8 = 3;

/// For whom a model runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requester {
    /// The account that owns the job.
    pub(crate) account_id: Uuid,
    /// Whether nobody waits for the job's answer.
    pub(crate) is_asynchronous: bool,
}

/// A request's place among those that wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    /// Whose turn it is.
    pub(crate) requester: Requester,
    /// What running the request costs, in a unit of the model, such as samples of sound. At least 1.
    pub(crate) cost: u64,
}

/// The requests that wait, in a queue for each account.
#[derive(Debug)]
pub(super) struct FairQueue<T> {
    /// Accounts with waiting requests, and those whose time is ahead of `served`.
    accounts: Vec<OfAccount<T>>,
    /// The virtual time that is being served.
    served: u64,
}

#[derive(Debug)]
struct OfAccount<T> {
    id: Uuid,
    /// The virtual time at which the first of the waiting requests starts.
    time: u64,
    waiting: VecDeque<(u64, T)>,
    asynchronous: VecDeque<(u64, T)>,
    /// The requests of `waiting` that were taken since one of `asynchronous` was, or came.
    n_in_a_row: u8,
}

impl<T> FairQueue<T> {
    pub(super) const fn new() -> Self {
        Self { accounts: Vec::new(), served: 0 }
    }

    /// Adds a request behind those of its account for which somebody waits as well, or nobody.
    pub(super) fn push(&mut self, Turn { requester, cost }: Turn, request: T) {
        let id = requester.account_id;
        let known = self.accounts.iter().position(|account| account.id == id);
        let at = known.unwrap_or_else(|| {
            self.accounts.push(OfAccount::new(id, self.served));
            self.accounts.len() - 1
        });
        let Some(account) = self.accounts.get_mut(at) else { return };
        let requests =
            if requester.is_asynchronous { &mut account.asynchronous } else { &mut account.waiting };
        requests.push_back((cost.max(1), request));
    }

    /// Takes the requests of the next batch. Those that are not `live` any more are removed and cost nothing. A batch has
    /// at most `max_n` requests. With more than one, as many times the highest cost as it has requests is at most
    /// `max_cost`: models fill inputs up to the length of the longest.
    pub(super) fn take(&mut self, max_n: usize, max_cost: u64, live: impl Fn(&T) -> bool) -> Vec<T> {
        let mut batch = Vec::new();
        let mut highest = 0;
        loop {
            self.drop_dead(&live);
            let next = self.accounts.iter_mut().filter(|account| !account.is_empty());
            // Of equal times, the cheaper request is first: it delays the others less.
            let Some(account) = next.min_by_key(|account| (account.time, account.cost())) else { break };
            let n = u64::try_from(batch.len() + 1).unwrap_or(u64::MAX);
            let is_full = batch.len() >= max_n || n.saturating_mul(highest.max(account.cost())) > max_cost;
            if is_full && !batch.is_empty() {
                break;
            }
            self.served = self.served.max(account.time);
            let Some((cost, request)) = account.pop() else { break };
            account.time += cost;
            highest = highest.max(cost);
            batch.push(request);
        }
        let served = self.served;
        self.accounts.retain(|account| !account.is_empty() || account.time > served);
        batch
    }

    /// Removes the first requests of accounts while nobody waits for them.
    fn drop_dead(&mut self, live: &impl Fn(&T) -> bool) {
        for account in &mut self.accounts {
            for requests in [&mut account.waiting, &mut account.asynchronous] {
                while requests.front().is_some_and(|(_, request)| !live(request)) {
                    requests.pop_front();
                }
            }
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.accounts.iter().map(|account| account.waiting.len()).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.accounts.iter().all(OfAccount::is_empty)
    }
}

impl<T> OfAccount<T> {
    const fn new(id: Uuid, time: u64) -> Self {
        Self { id, time, waiting: VecDeque::new(), asynchronous: VecDeque::new(), n_in_a_row: 0 }
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.asynchronous.is_empty()
    }

    /// Whether the next request is one for which nobody waits.
    fn is_asynchronous_next(&self) -> bool {
        self.waiting.is_empty() || self.n_in_a_row >= WAITING_IN_A_ROW && !self.asynchronous.is_empty()
    }

    /// The cost of the next request. 0 if there is none.
    fn cost(&self) -> u64 {
        let next = if self.is_asynchronous_next() { &self.asynchronous } else { &self.waiting };
        next.front().map_or(0, |(cost, _)| *cost)
    }

    fn pop(&mut self) -> Option<(u64, T)> {
        if self.is_asynchronous_next() {
            self.n_in_a_row = 0;
            return self.asynchronous.pop_front();
        }
        self.n_in_a_row = if self.asynchronous.is_empty() { 0 } else { self.n_in_a_row + 1 };
        self.waiting.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A queue of requests that are the numbers of their accounts, one in a batch.
    #[derive(Debug)]
    struct Requests(FairQueue<u8>);

    impl Requests {
        fn new() -> Self {
            Self(FairQueue::new())
        }

        fn push(&mut self, account: u8, cost: u64) {
            self.push_as(account, cost, false, account);
        }

        fn push_as(&mut self, account: u8, cost: u64, is_asynchronous: bool, request: u8) {
            let requester = Requester { account_id: Uuid::from_u128(account.into()), is_asynchronous };
            self.0.push(Turn { requester, cost }, request);
        }

        fn next(&mut self) -> Option<u8> {
            self.0.take(1, u64::MAX, |_| true).pop()
        }

        fn order(&mut self) -> Vec<u8> {
            std::iter::from_fn(|| self.next()).collect()
        }
    }

    #[test]
    fn accounts_take_turns_by_cost_and_the_requests_of_one_keep_their_order() {
        let mut requests = Requests::new();
        for _ in 0..4 {
            requests.push(1, 14);
        }
        for _ in 0..6 {
            requests.push(2, 5);
        }
        assert_eq!(requests.order(), [2, 1, 2, 2, 1, 2, 2, 2, 1, 1]);
        assert!(requests.0.is_empty());
    }

    #[test]
    fn a_request_of_another_account_is_next_whatever_waits() {
        let mut requests = Requests::new();
        for account in [1, 2, 3, 1, 2, 3, 1, 2, 3] {
            requests.push(account, 14);
        }
        let before = [requests.next(), requests.next(), requests.next(), requests.next()];
        assert_eq!(before, [Some(1), Some(2), Some(3), Some(1)]);
        requests.push(4, 2);
        assert_eq!(requests.next(), Some(4));
    }

    #[test]
    fn what_somebody_waits_for_is_before_the_rest_of_its_account_which_goes_on() {
        let mut requests = Requests::new();
        for request in 10..13 {
            requests.push_as(1, 14, true, request);
        }
        requests.push_as(2, 14, true, 20);
        for request in 1..6 {
            requests.push_as(1, 14, false, request);
        }
        assert_eq!(requests.order(), [1, 20, 2, 3, 10, 4, 5, 11, 12]);
    }

    #[test]
    fn an_account_gets_no_turns_for_the_time_in_which_it_asked_for_nothing() {
        let mut requests = Requests::new();
        for _ in 0..20 {
            requests.push(1, 1);
        }
        for _ in 0..10 {
            requests.next();
        }
        for _ in 0..10 {
            requests.push(2, 1);
        }
        assert_eq!(requests.order()[..10], [2, 1, 2, 1, 2, 1, 2, 1, 2, 1]);
    }

    #[test]
    fn a_request_that_nobody_waits_for_costs_its_account_nothing() {
        let mut requests = Requests::new();
        for _ in 0..3 {
            requests.push(1, 100);
        }
        requests.push(2, 1);
        assert_eq!(requests.0.take(1, u64::MAX, |account| *account != 1), [2]);
        assert!(requests.0.is_empty());
        requests.push(1, 1);
        requests.push(2, 1);
        assert_eq!(requests.order(), [1, 2]);
    }

    #[test]
    fn a_batch_has_no_more_requests_and_costs_no_more_than_allowed_but_is_never_empty() {
        let mut requests = Requests::new();
        for (account, cost) in [(1, 2), (2, 3), (3, 2), (4, 14), (5, 40)] {
            requests.push(account, cost);
        }
        let mut batches = std::iter::from_fn(|| Some(requests.0.take(4, 16, |_| true)));
        assert_eq!(batches.next(), Some(vec![1, 3, 2]), "four times 14 are too much");
        assert_eq!(batches.next(), Some(vec![4]));
        assert_eq!(batches.next(), Some(vec![5]));
        for _ in 0..5 {
            requests.push(1, 1);
        }
        assert_eq!(requests.0.take(4, 16, |_| true).len(), 4);
    }

    proptest! {
        /// Of two accounts that both have waiting requests, neither gets more than the other by more than one request of
        /// each (theorem 1 of the paper).
        #[test]
        fn nobody_starves(
            costs in proptest::collection::vec((0_u8..4, 1_u64..20), 1..200),
            n_taken in 0_usize..200,
        ) {
            let mut requests = Requests::new();
            let mut waiting = [const { VecDeque::new() }; 4];
            for (account, cost) in costs {
                requests.push(account, cost);
                waiting[usize::from(account)].push_back(cost);
            }
            let mut got = [0; 4];
            for _ in 0..n_taken {
                let Some(account) = requests.next().map(usize::from) else { break };
                got[account] += waiting[account].pop_front().expect("it waits");
            }
            let hungry: Vec<_> = (0..4).filter(|account| !waiting[*account].is_empty()).collect();
            for (a, b) in hungry.iter().flat_map(|a| hungry.iter().map(move |b| (*a, *b))) {
                prop_assert!(got[a] <= got[b] + 2 * 19, "{:?}", got);
            }
        }
    }
}
