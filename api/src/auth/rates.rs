//! Counts the requests of accounts that may make only so many in a minute: a token bucket for each.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use uuid::Uuid;

/// The time in which an empty bucket fills.
pub(crate) const WINDOW: Duration = Duration::from_secs(60);

/// The buckets of this process. None is removed: one has a few bytes, and accounts are made by operators.
#[derive(Debug, Default)]
pub(crate) struct Rates(Mutex<HashMap<Uuid, Bucket>>);

/// The requests that an account may make now.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    n_left: f64,
    at: Instant,
}

/// What a request finds in its account's bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    /// How many more requests the account may make now.
    pub(crate) n_left: u32,
    /// The time until the bucket is full.
    pub(crate) full_in: Duration,
    /// The time until the next request is accepted, if this one is not.
    pub(crate) refused_for: Option<Duration>,
}

impl Rates {
    /// Counts a request of an account that may make `per_minute`. A request that is refused does not count.
    pub(crate) fn count(&self, account_id: Uuid, per_minute: u32, now: Instant) -> Counted {
        let full = Bucket { n_left: per_minute.into(), at: now };
        let mut buckets = self.0.lock();
        buckets.entry(account_id).or_insert(full).take(per_minute, now)
    }
}

impl Bucket {
    fn take(&mut self, per_minute: u32, now: Instant) -> Counted {
        let size = f64::from(per_minute);
        let per_second = size / WINDOW.as_secs_f64();
        let elapsed = now.saturating_duration_since(self.at);
        self.n_left = (self.n_left + elapsed.as_secs_f64() * per_second).min(size);
        self.at = now;
        let time_for = |n: f64| Duration::from_secs_f64(n.max(0.0) / per_second);
        let is_accepted = self.n_left >= 1.0;
        if is_accepted {
            self.n_left -= 1.0;
        }
        Counted {
            n_left: whole(self.n_left),
            full_in: time_for(size - self.n_left),
            refused_for: (!is_accepted).then(|| time_for(1.0 - self.n_left)),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of requests, rounded down"
)]
fn whole(n: f64) -> u32 {
    n as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_that_is_empty_fills_in_a_minute() {
        let (rates, start, account) = (Rates::default(), Instant::now(), Uuid::now_v7());
        let count = |seconds: u64| rates.count(account, 6, start + Duration::from_secs(seconds));
        for n_left in (0..6).rev() {
            let counted = count(0);
            assert_eq!((counted.n_left, counted.refused_for), (n_left, None));
        }
        assert_eq!(count(0).refused_for, Some(Duration::from_secs(10)));
        assert_eq!(count(4).refused_for, Some(Duration::from_secs(6)), "a refused request does not count");
        assert_eq!(count(10).refused_for, None);
        assert_eq!(count(10).full_in, WINDOW);
        assert_eq!(count(3600).n_left, 5, "it is never more than full");
        assert_eq!(rates.count(Uuid::now_v7(), 1, start).n_left, 0, "each account has its own");
    }

    #[test]
    fn a_smaller_quota_holds_at_once() {
        let (rates, now, account) = (Rates::default(), Instant::now(), Uuid::now_v7());
        assert_eq!(rates.count(account, 100, now).n_left, 99);
        assert_eq!(rates.count(account, 2, now).n_left, 1);
    }
}
