//! Counts the attempts that run in this process, and limits how many of them are for one receiver (a URL without its query), one
//! host or one account. So a receiver that is slow delays neither others of its host nor others of its account, and accounts with
//! many slow receivers delay no others.
//!
//! A receiver gets another place only while it has less than a third of what the others leave of its host. An account gets another
//! place only while it has less than a third as many as are free. So a few accounts with slow receivers cannot take all places, and
//! the more of them there are, the fewer each one has.

use std::{collections::BTreeMap, sync::Arc};

use akhar_platform::budget::{Budget, Share};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::store::{Delivery, LeaseLimits};

/// The most attempts at a time.
const MAX_RUNNING: i64 = 64;
/// The most attempts at a time for one account.
const MAX_OF_ACCOUNT: i64 = 16;
/// The most attempts at a time for one host. One receiver has a third of them at most.
const MAX_OF_HOST: i64 = 12;

/// A receiver and its host.
type Receiver = (String, String);

/// The running attempts. A lease keeps their limits, so these only count.
#[derive(Debug)]
pub(crate) struct Running {
    accounts: Arc<Budget<Uuid>>,
    receivers: Arc<Budget<Receiver>>,
    /// Notified when an attempt ends, because another may begin then.
    ended: Arc<Notify>,
}

/// A running attempt. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    of_account: Option<Share<Uuid>>,
    of_receiver: Option<Share<Receiver>>,
    ended: Arc<Notify>,
}

impl Running {
    /// None. `ended` is notified whenever an attempt ends.
    pub(crate) fn new(ended: Arc<Notify>) -> Self {
        let accounts = Budget::new(usize::MAX, usize::MAX);
        Self { accounts, receivers: Budget::new(usize::MAX, usize::MAX), ended }
    }

    /// How many attempts may begin.
    pub(crate) fn limits(&self) -> LeaseLimits {
        let n_free = MAX_RUNNING - count(self.accounts.taken());
        let mut hosts = BTreeMap::new();
        let mut receivers = Vec::new();
        for ((receiver, host), n) in self.receivers.taken_by_key() {
            *hosts.entry(host.clone()).or_default() += count(n);
            receivers.push((receiver, host, count(n)));
        }
        LeaseLimits {
            // Not all at once: the next lease looks again at how many are left.
            n_free: (n_free + 2) / 3,
            per_host: MAX_OF_HOST,
            per_account: (n_free / 3).clamp(1, MAX_OF_ACCOUNT),
            hosts: hosts.into_iter().collect(),
            receivers,
            accounts: self.accounts.taken_by_key().into_iter().map(|(id, n)| (id, count(n))).collect(),
        }
    }

    /// Counts an attempt at this delivery until the result is dropped.
    pub(crate) fn begin(&self, delivery: &Delivery) -> Place {
        let of_account = self.accounts.take(delivery.account_id, 1).ok();
        let receiver = (delivery.receiver().to_owned(), delivery.host.clone());
        let of_receiver = self.receivers.take(receiver, 1).ok();
        Place { of_account, of_receiver, ended: self.ended.clone() }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Before another attempt begins.
        drop((self.of_account.take(), self.of_receiver.take()));
        self.ended.notify_one();
    }
}

fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use akhar_jobs::JobId;
    use chrono::Utc;

    use super::*;
    use crate::store::Ended;

    fn delivery(account_id: Uuid, url: &str) -> Delivery {
        let host = url.split('/').next().unwrap_or_default();
        Delivery {
            id: Uuid::now_v7(),
            ended: Ended::Job { id: JobId(Uuid::now_v7()), request_id: String::new() },
            account_id,
            url: url.to_owned(),
            host: host.to_owned(),
            attempt: 1,
            traceparent: None,
            leased_at: Utc::now(),
        }
    }

    #[test]
    fn accounts_whose_receivers_never_answer_leave_places_to_others() {
        let running = Running::new(Arc::default());
        let slow: Vec<Uuid> = (0..8).map(|_| Uuid::now_v7()).collect();
        let mut places = Vec::new();
        loop {
            // A lease takes the longest due first: all of one account before the next.
            let limits = running.limits();
            let n_of =
                |account: &Uuid| limits.accounts.iter().find(|(of, _)| of == account).map_or(0, |(_, n)| *n);
            let due = slow.iter().flat_map(|account| (n_of(account)..limits.per_account).map(|_| *account));
            let leased: Vec<Uuid> = due.take(usize::try_from(limits.n_free).unwrap()).collect();
            if leased.is_empty() {
                break;
            }
            places.extend(leased.into_iter().map(|account| running.begin(&delivery(account, "slow"))));
        }
        let limits = running.limits();
        assert!(limits.n_free > 0 && limits.per_account > 0, "{limits:?}");
    }

    #[test]
    fn an_attempt_counts_until_it_ends() {
        let running = Running::new(Arc::default());
        let account_id = Uuid::now_v7();
        let begin = |url: &str| running.begin(&delivery(account_id, url));
        let [one, two, three, four] = ["a/x?job=1", "a/x?job=2", "a/y", "b/x"].map(begin);
        let limits = running.limits();
        assert_eq!((limits.n_free, limits.accounts), ((MAX_RUNNING - 4 + 2) / 3, vec![(account_id, 4)]));
        assert_eq!(limits.hosts, [("a".to_owned(), 3), ("b".to_owned(), 1)]);
        let mut receivers = limits.receivers;
        receivers.sort_unstable();
        let of = |receiver: &str, host: &str, n| (receiver.to_owned(), host.to_owned(), n);
        assert_eq!(receivers, [of("a/x", "a", 2), of("a/y", "a", 1), of("b/x", "b", 1)]);
        drop(four);
        assert_eq!(running.limits().hosts, [("a".to_owned(), 3)]);
        drop((one, two, three));
        let limits = running.limits();
        assert!(
            limits.n_free == (MAX_RUNNING + 2) / 3
                && limits.receivers.is_empty()
                && limits.accounts.is_empty()
        );
    }
}
