//! The delay between a failed attempt and the next one: exponential backoff with jitter.

use std::time::Duration;

/// The shortest delay before the second attempt. Each further delay is twice as long.
const FIRST: Duration = Duration::from_millis(500);

/// The delay after attempt number `attempt`, counted from 1. A random part of up to half of the delay is
/// added, so that jobs that failed at the same time do not all return at the same time.
pub(super) fn after(attempt: i32) -> Duration {
    let doublings = u32::try_from(attempt - 1).unwrap_or(0).min(8);
    FIRST.saturating_mul(1 << doublings).mul_f64(1.0 + rand::random::<f64>() / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_delay_doubles_and_adds_up_to_half_as_jitter() {
        for (attempt, least) in [(1, 500), (2, 1000), (3, 2000), (100, 128_000)] {
            let wait = after(attempt);
            let least = Duration::from_millis(least);
            assert!(wait >= least && wait <= least.mul_f64(1.5), "{attempt}: {wait:?}");
        }
    }
}
