//! Measures how fast waiting jobs leave a queue, and estimates when a place will be free. Pure arithmetic, without a
//! clock or a database.

use std::time::Duration;

/// The weight of an observation falls to 1/e after this much observed time.
const MEMORY_S: f64 = 60.0;

/// The shortest time that a refused caller has to wait.
const MIN_WAIT: Duration = Duration::from_secs(1);

/// The longest time that a refused caller has to wait.
const MAX_WAIT: Duration = Duration::from_secs(300);

/// How fast the waiting jobs of one queue leave it, because they start or are cancelled.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pace {
    /// Jobs that left. Older ones have less weight.
    n_left: f64,
    /// The seconds in which they left, with the same weights.
    seconds: f64,
    /// The seconds since a job was last seen to leave.
    seconds_since: f64,
}

impl Pace {
    /// Adds an observation: of the jobs that waited `elapsed` ago, `n_left` wait no more.
    pub fn observe(&mut self, n_left: u32, elapsed: Duration) {
        let kept = (-elapsed.as_secs_f64() / MEMORY_S).exp();
        self.n_left = self.n_left * kept + f64::from(n_left);
        self.seconds = self.seconds * kept + elapsed.as_secs_f64();
        self.seconds_since = if n_left > 0 { 0.0 } else { self.seconds_since + elapsed.as_secs_f64() };
    }

    /// The time until `n` more jobs have left, between one second and five minutes. As long as little is known, a job
    /// is assumed to leave each second: one job in one second is added to what was observed. While no job leaves, the
    /// next one is assumed to take as long again.
    pub fn time_for(&self, n: u32) -> Duration {
        let seconds_per_job = (self.seconds + 1.0) / (self.n_left + 1.0);
        let seconds = seconds_per_job.max(self.seconds_since) * f64::from(n);
        Duration::from_secs_f64(seconds.clamp(MIN_WAIT.as_secs_f64(), MAX_WAIT.as_secs_f64()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The pace after observing, `n_times`, that `n_left` jobs left in `elapsed_s`.
    fn pace(n_times: usize, n_left: u32, elapsed_s: f64) -> Pace {
        let mut pace = Pace::default();
        for _ in 0..n_times {
            pace.observe(n_left, Duration::from_secs_f64(elapsed_s));
        }
        pace
    }

    #[test]
    fn nothing_is_known_at_first() {
        assert_eq!(Pace::default().time_for(1), MIN_WAIT);
    }

    #[test]
    fn a_fast_queue_frees_a_place_within_the_shortest_wait() {
        assert_eq!(pace(10, 600, 1.0).time_for(1), MIN_WAIT);
        assert_eq!(pace(10, 600, 1.0).time_for(u32::MAX), MAX_WAIT);
    }

    #[test]
    fn a_slow_queue_frees_a_place_after_the_time_of_a_job() {
        let ten_seconds_each = pace(60, 1, 10.0);
        assert!((8.0..11.0).contains(&ten_seconds_each.time_for(1).as_secs_f64()), "{ten_seconds_each:?}");
        assert!((32.0..44.0).contains(&ten_seconds_each.time_for(4).as_secs_f64()), "{ten_seconds_each:?}");
    }

    #[test]
    fn a_queue_that_stopped_is_noticed() {
        let mut stopped = pace(60, 10, 1.0);
        for _ in 0..600 {
            stopped.observe(0, Duration::from_secs(1));
        }
        assert_eq!(stopped.time_for(1), MAX_WAIT);
        stopped.observe(1, Duration::from_secs(1));
        assert!(stopped.time_for(1) < MAX_WAIT, "{stopped:?}");
    }

    proptest! {
        #[test]
        fn the_wait_is_longer_the_slower_the_queue_is(fast in 1_u32..1000, slow in 0_u32..1000, n in 1_u32..100) {
            prop_assume!(slow <= fast);
            prop_assert!(pace(20, slow, 1.0).time_for(n) >= pace(20, fast, 1.0).time_for(n));
        }
    }
}
