//! The database's clock. It can jump ahead; workers record the times that it skipped, which do not count as passed time.

use std::time::Duration;

use akhar_platform::database::Pool;
use chrono::{DateTime, TimeDelta, Utc};

/// Times that the clock skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, sqlx::FromRow)]
pub struct ClockJump {
    /// The last time before the jump that a worker has seen.
    pub jumped_from: DateTime<Utc>,
    /// The first time after the jump that it has seen.
    pub jumped_to: DateTime<Utc>,
}

/// A time of the clock, and the jumps before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clock {
    /// The time.
    pub now: DateTime<Utc>,
    /// The latest first. They can overlap, because several workers record the same jump.
    pub jumps: Vec<ClockJump>,
}

impl Clock {
    /// The latest time since which `passed` has really passed.
    pub fn ago(&self, passed: Duration) -> DateTime<Utc> {
        let mut left = TimeDelta::from_std(passed).unwrap_or(TimeDelta::MAX);
        let mut at = self.now;
        for jump in &self.jumps {
            let since = at - jump.jumped_to;
            if since >= left {
                break;
            }
            left -= since.max(TimeDelta::zero());
            at = at.min(jump.jumped_from);
        }
        at.checked_sub_signed(left).unwrap_or_default().max(DateTime::UNIX_EPOCH)
    }
}

/// Records that the clock has jumped ahead. The record is on disk when this returns: without it, outcomes would be deleted
/// too early.
pub async fn record_clock_jump(db: &Pool, jump: ClockJump) -> Result<(), sqlx::Error> {
    sqlx::query("insert into clock_jumps (jumped_from, jumped_to) values ($1, $2) on conflict do nothing")
        .bind(jump.jumped_from)
        .bind(jump.jumped_to)
        .execute(db)
        .await?;
    Ok(())
}

/// Reads the jumps before `found`, a time that a worker has just read. If the clock was put back after a jump, the times from
/// then on come again, so they are not skipped any more. If it was put back after `found`, it is earlier now.
pub async fn clock(db: &Pool, found: DateTime<Utc>) -> Result<Clock, sqlx::Error> {
    sqlx::query("delete from clock_jumps where jumped_from >= now()").execute(db).await?;
    sqlx::query("update clock_jumps set jumped_to = now() where jumped_to > now()").execute(db).await?;
    let jumps = sqlx::query_as("select jumped_from, jumped_to from clock_jumps order by jumped_to desc")
        .fetch_all(db)
        .await?;
    let now = sqlx::query_scalar("select least($1, now())").bind(found).fetch_one(db).await?;
    Ok(Clock { now, jumps })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(s)
    }

    fn jump(from: i64, to: i64) -> ClockJump {
        ClockJump { jumped_from: at(from), jumped_to: at(to) }
    }

    /// Where `passed` seconds before 10,000 is.
    fn ago(jumps: &[ClockJump], passed: u64) -> DateTime<Utc> {
        Clock { now: at(10_000), jumps: jumps.to_vec() }.ago(Duration::from_secs(passed))
    }

    #[test]
    fn skipped_times_have_not_passed() {
        assert_eq!(ago(&[], 100), at(9900));
        let jumps = [jump(9000, 9500), jump(5000, 8000)];
        assert_eq!(ago(&jumps, 500), at(9500), "since the last jump");
        assert_eq!(ago(&jumps, 600), at(8900), "before it");
        assert_eq!(ago(&jumps, 1500), at(8000), "between the jumps");
        assert_eq!(ago(&jumps, 1501), at(4999), "before both");
    }

    #[test]
    fn a_jump_that_several_workers_recorded_counts_once() {
        let jumps = [jump(5001, 9001), jump(5000, 9000), jump(6000, 7000)];
        assert_eq!(ago(&jumps, 999), at(9001));
        assert_eq!(ago(&jumps, 1099), at(4900));
    }

    #[test]
    fn a_jump_that_another_worker_recorded_after_this_ones_look_counts() {
        assert_eq!(ago(&[jump(9999, 20_000)], 100), at(9899));
    }
}
