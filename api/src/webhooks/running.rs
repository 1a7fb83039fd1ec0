//! Counts the attempts that run in this process, and limits how many of them are for one host or one account. So a
//! receiver that is slow, and an account with many slow receivers, delay no others.

use std::{collections::HashMap, sync::Arc};

use akhar_jobs::store::{Delivery, LeaseLimits};
use parking_lot::Mutex;
use tokio::sync::Notify;
use uuid::Uuid;

/// The most attempts at a time.
const MAX_RUNNING: i64 = 64;
/// The most attempts at a time for one account.
const MAX_OF_ACCOUNT: i64 = 16;
/// The most attempts at a time for one host.
const MAX_OF_HOST: i64 = 4;

/// The running attempts.
#[derive(Debug)]
pub(super) struct Running {
    counts: Mutex<Counts>,
    /// Told when an attempt ends, because another may begin then.
    ended: Arc<Notify>,
}

#[derive(Debug, Default)]
struct Counts {
    hosts: HashMap<String, i64>,
    accounts: HashMap<Uuid, i64>,
}

/// A running attempt. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Place {
    running: Arc<Running>,
    host: String,
    account: Uuid,
}

impl Running {
    /// None. `ended` is told whenever an attempt ends.
    pub(super) fn new(ended: Arc<Notify>) -> Arc<Self> {
        Arc::new(Self { counts: Mutex::default(), ended })
    }

    /// How many attempts may begin.
    pub(super) fn limits(&self) -> LeaseLimits {
        let counts = self.counts.lock();
        LeaseLimits {
            n_free: MAX_RUNNING - counts.accounts.values().sum::<i64>(),
            per_host: MAX_OF_HOST,
            per_account: MAX_OF_ACCOUNT,
            hosts: counts.hosts.iter().map(|(host, n)| (host.clone(), *n)).collect(),
            accounts: counts.accounts.iter().map(|(account, n)| (*account, *n)).collect(),
        }
    }

    /// Counts an attempt at this delivery until the result is dropped.
    pub(super) fn begin(self: &Arc<Self>, delivery: &Delivery) -> Place {
        let mut counts = self.counts.lock();
        *counts.hosts.entry(delivery.host.clone()).or_default() += 1;
        *counts.accounts.entry(delivery.account_id).or_default() += 1;
        Place { running: self.clone(), host: delivery.host.clone(), account: delivery.account_id }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.running.counts.lock();
        if let Some(n) = counts.hosts.get_mut(&self.host) {
            *n -= 1;
        }
        if let Some(n) = counts.accounts.get_mut(&self.account) {
            *n -= 1;
        }
        counts.hosts.retain(|_, n| *n > 0);
        counts.accounts.retain(|_, n| *n > 0);
        drop(counts);
        self.running.ended.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use akhar_jobs::JobId;
    use chrono::Utc;

    use super::*;

    #[test]
    fn an_attempt_counts_until_it_ends() {
        let running = Running::new(Arc::default());
        let account_id = Uuid::now_v7();
        let begin = |host: &str| {
            running.begin(&Delivery {
                job_id: JobId(Uuid::now_v7()),
                account_id,
                url: String::new(),
                host: host.to_owned(),
                attempt: 1,
                request_id: String::new(),
                leased_at: Utc::now(),
            })
        };
        let (one, two, three) = (begin("a"), begin("a"), begin("b"));
        let limits = running.limits();
        assert_eq!((limits.n_free, limits.accounts), (MAX_RUNNING - 3, vec![(account_id, 3)]));
        let mut hosts = limits.hosts;
        hosts.sort_unstable();
        assert_eq!(hosts, [("a".to_owned(), 2), ("b".to_owned(), 1)]);
        drop(three);
        assert_eq!(running.limits().hosts, [("a".to_owned(), 2)]);
        drop((one, two));
        let limits = running.limits();
        assert!(limits.n_free == MAX_RUNNING && limits.hosts.is_empty() && limits.accounts.is_empty());
    }
}
