//! Converts durations into the unit of a job's timing: whole microseconds.

use std::time::Duration;

/// The duration in microseconds, limited to `i32::MAX` (about 36 minutes).
pub(crate) fn micros(duration: Duration) -> i32 {
    i32::try_from(duration.as_micros()).unwrap_or(i32::MAX)
}
