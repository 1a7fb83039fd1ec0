//! How long a job waits after an attempt that failed.

use std::time::Duration;

/// Wait before the second attempt; each further wait is twice as long.
const FIRST: Duration = Duration::from_millis(500);

/// The wait after an attempt, doubled each time, spread by up to a half so that jobs that failed together
/// do not return together.
pub(super) fn after(attempt: i32) -> Duration {
    let doublings = u32::try_from(attempt - 1).unwrap_or(0).min(8);
    FIRST.saturating_mul(1 << doublings).mul_f64(1.0 + rand::random::<f64>() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wait_is_twice_the_last_and_spread_by_a_half() {
        for (attempt, least) in [(1, 500), (2, 1000), (3, 2000), (100, 128_000)] {
            let wait = after(attempt);
            let least = Duration::from_millis(least);
            assert!(wait >= least && wait <= least.mul_f64(1.5), "{attempt}: {wait:?}");
        }
    }
}
