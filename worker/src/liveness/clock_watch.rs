//! Notices when the database's clock jumps ahead, by comparing it with the monotonic clock of this process.

use akhar_jobs::store::ClockJump;
use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::Instant;

/// The most by which the two clocks may differ between two looks without a jump. Small corrections of a clock are normal.
const TOLERANCE: TimeDelta = TimeDelta::seconds(5);

/// The last look at the database's clock: when it began, and the time that was found.
#[derive(Debug, Default)]
pub(super) struct ClockWatch(Option<(Instant, DateTime<Utc>)>);

impl ClockWatch {
    /// The jump between the last look and one that has just found this time. A slow answer is no jump, because the whole time
    /// since the last look began counts as passed. When the clock jumped between the two looks is not known, so all of the time
    /// between them is skipped: none of it that came before the jump is older than it is.
    pub(super) fn jump(&self, found: DateTime<Utc>) -> Option<ClockJump> {
        let (began, jumped_from) = self.0?;
        let passed = TimeDelta::from_std(began.elapsed()).unwrap_or(TimeDelta::MAX);
        (found - jumped_from - passed > TOLERANCE).then_some(ClockJump { jumped_from, jumped_to: found })
    }

    /// Remembers a look.
    pub(super) fn remember(&mut self, began: Instant, found: DateTime<Utc>) {
        self.0 = Some((began, found));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_jump_ahead_is_what_the_clock_gained_on_the_monotonic_one() {
        let at = |s: i64| DateTime::UNIX_EPOCH + TimeDelta::seconds(s);
        let mut watch = ClockWatch::default();
        assert_eq!(watch.jump(at(5000)), None, "nothing to compare with");
        watch.remember(Instant::now(), at(5000));
        tokio::time::advance(Duration::from_secs(60)).await;
        assert_eq!(watch.jump(at(5060)), None);
        assert_eq!(watch.jump(at(5065)), None, "a correction");
        assert_eq!(watch.jump(at(5040)), None, "a slow answer, or the clock was put back");
        let jump = ClockJump { jumped_from: at(5000), jumped_to: at(8660) };
        assert_eq!(watch.jump(at(8660)), Some(jump), "an hour");
    }
}
