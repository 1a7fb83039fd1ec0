//! Durations as the whole microseconds that a job's timing has.

use std::time::Duration;

/// Microseconds; at most `i32::MAX`, about 36 minutes.
pub(crate) fn micros(duration: Duration) -> i32 {
    i32::try_from(duration.as_micros()).unwrap_or(i32::MAX)
}
