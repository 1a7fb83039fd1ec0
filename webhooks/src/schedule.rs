//! When an attempt that failed is repeated.

use std::time::Duration;

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;

/// The pauses between attempts, in seconds. All together are less than a day, so that the last attempt is made before the
/// job is deleted with the default retention.
const PAUSES_S: [u64; 7] = [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 7 * HOUR, 7 * HOUR];

/// A pause is longer by a random part of itself, up to this, so that the deliveries that failed together do not come again
/// together.
const MAX_JITTER: f64 = 0.1;

/// The pause after an attempt that failed. Attempts are counted from 1. `None` if it was the last one.
pub(crate) fn pause_after(attempt: i32) -> Option<Duration> {
    let failed = usize::try_from(attempt).unwrap_or_default();
    let pause = PAUSES_S.get(failed.saturating_sub(1))?;
    Some(Duration::from_secs(*pause).mul_f64(1.0 + rand::random_range(0.0..=MAX_JITTER)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_are_repeated_for_most_of_a_day() {
        let pauses: Vec<Duration> = (1..).map_while(pause_after).collect();
        assert_eq!(pauses.len(), PAUSES_S.len());
        assert!(pauses[0] >= Duration::from_secs(5) && pauses[0] <= Duration::from_millis(5500));
        let total = pauses.iter().sum::<Duration>();
        let hours = |n: u64| Duration::from_secs(n * HOUR);
        assert!(total > hours(21) && total < hours(24), "{total:?}");
    }
}
