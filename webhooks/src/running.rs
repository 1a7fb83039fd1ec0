//! Counts the attempts that run in this process, and limits how many of them are for one host or one account. So a
//! receiver that is slow, and accounts with many slow receivers, delay no others.
//!
//! An account gets another place only while it has less than a third as many as are free. So a few accounts with slow receivers
//! cannot take all places, and the more of them there are, the fewer each one has.

use std::sync::Arc;

use akhar_platform::budget::{Budget, Share};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::store::{Delivery, LeaseLimits};

/// The most attempts at a time.
const MAX_RUNNING: i64 = 64;
/// The most attempts at a time for one account.
const MAX_OF_ACCOUNT: i64 = 16;
/// The most attempts at a time for one host.
const MAX_OF_HOST: i64 = 4;

/// The running attempts. A lease keeps their limits, so these only count.
#[derive(Debug)]
pub(crate) struct Running {
    accounts: Arc<Budget<Uuid>>,
    hosts: Arc<Budget<String>>,
    /// Notified when an attempt ends, because another may begin then.
    ended: Arc<Notify>,
}

/// A running attempt. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    shares: (Option<Share<Uuid>>, Option<Share<String>>),
    ended: Arc<Notify>,
}

impl Running {
    /// None. `ended` is notified whenever an attempt ends.
    pub(crate) fn new(ended: Arc<Notify>) -> Self {
        let accounts = Budget::new(usize::MAX, usize::MAX);
        Self { accounts, hosts: Budget::new(usize::MAX, usize::MAX), ended }
    }

    /// How many attempts may begin.
    pub(crate) fn limits(&self) -> LeaseLimits {
        let n_free = MAX_RUNNING - count(self.accounts.taken());
        LeaseLimits {
            // Not all at once: the next lease looks again at how many are left.
            n_free: (n_free + 2) / 3,
            per_host: MAX_OF_HOST,
            per_account: (n_free / 3).clamp(1, MAX_OF_ACCOUNT),
            hosts: self.hosts.taken_by_key().into_iter().map(|(host, n)| (host, count(n))).collect(),
            accounts: self.accounts.taken_by_key().into_iter().map(|(id, n)| (id, count(n))).collect(),
        }
    }

    /// Counts an attempt at this delivery until the result is dropped.
    pub(crate) fn begin(&self, delivery: &Delivery) -> Place {
        let of_account = self.accounts.take(delivery.account_id, 1).ok();
        let of_host = self.hosts.take(delivery.host.clone(), 1).ok();
        Place { shares: (of_account, of_host), ended: self.ended.clone() }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        drop(std::mem::take(&mut self.shares)); // before another attempt begins
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

    fn delivery(account_id: Uuid, host: &str) -> Delivery {
        Delivery {
            id: Uuid::now_v7(),
            ended: Ended::Job { id: JobId(Uuid::now_v7()), request_id: String::new() },
            account_id,
            url: String::new(),
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
        let begin = |host: &str| running.begin(&delivery(account_id, host));
        let [one, two, three] = ["a", "a", "b"].map(begin);
        let limits = running.limits();
        assert_eq!((limits.n_free, limits.accounts), ((MAX_RUNNING - 3 + 2) / 3, vec![(account_id, 3)]));
        let mut hosts = limits.hosts;
        hosts.sort_unstable();
        assert_eq!(hosts, [("a".to_owned(), 2), ("b".to_owned(), 1)]);
        drop(three);
        assert_eq!(running.limits().hosts, [("a".to_owned(), 2)]);
        drop((one, two));
        let limits = running.limits();
        assert!(
            limits.n_free == (MAX_RUNNING + 2) / 3 && limits.hosts.is_empty() && limits.accounts.is_empty()
        );
    }
}
