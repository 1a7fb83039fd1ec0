//! Why and until when an operator stops a queue, and how long a key works: what a person wrote comes in, and a sentence or a time
//! goes out.

use std::time::Duration;

use chrono::{DateTime, Days, NaiveTime, SubsecRound as _, TimeDelta, TimeZone, Utc};

use crate::search::{Age, Term as _};

/// The most characters of a reason.
pub const MAX_WHY: usize = 200;
/// The longest time until a queue opens, days.
const MAX_DAYS: i64 = 366;
/// The longest time for which a key works that expires.
const MAX_LIFETIME: Duration = Duration::from_secs(3650 * 24 * 60 * 60);

/// What [`Until::parse`] expects.
pub const EXPECTED: &str = "a time within a year, such as 06:00, 2026-11-29T06:00:00Z, or 2h from now";

/// Why an operator does something: one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Why(pub String);

impl Why {
    /// Parses what a person wrote. Spaces around it are left out. The error says what is expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() || text.chars().count() > MAX_WHY || text.contains(char::is_control) {
            return Err(format!("expected a reason of 1 to {MAX_WHY} characters on one line"));
        }
        Ok(Self(text.to_owned()))
    }
}

/// When a queue opens by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Until(pub DateTime<Utc>);

impl Until {
    /// Parses a time of day such as `06:00` in the time zone of `now`, which is today or tomorrow, a time such as
    /// `2026-11-29T06:00:00Z` (RFC 3339), or how long from now, such as `90s`, `15m`, `2h` or `1d`. The error says what is
    /// expected.
    pub fn parse<Zone: TimeZone>(text: &str, now: &DateTime<Zone>) -> Result<Self, String> {
        let text = text.trim();
        let until = if let Ok(time) = NaiveTime::parse_from_str(text, "%H:%M") {
            next(time, now)
        } else if let Ok(time) = DateTime::parse_from_rfc3339(text) {
            Some(time.to_utc())
        } else if text.ends_with(|last: char| last.is_ascii_alphabetic())
            && let Ok(Age(time)) = Age::parse(text)
        {
            TimeDelta::from_std(time)
                .ok()
                .and_then(|time| now.to_utc().trunc_subsecs(0).checked_add_signed(time))
        } else {
            None
        };
        let until = until.ok_or_else(|| format!("expected {EXPECTED}"))?;
        if until <= now.to_utc() {
            return Err(format!("it is over already: expected {EXPECTED}"));
        }
        if until - now.to_utc() > TimeDelta::days(MAX_DAYS) {
            return Err(format!("it is more than a year away: expected {EXPECTED}"));
        }
        Ok(Self(until))
    }
}

/// The next time that clocks in this time zone show this. Of two, when clocks are put back, the first.
fn next<Zone: TimeZone>(time: NaiveTime, now: &DateTime<Zone>) -> Option<DateTime<Utc>> {
    // A time that clocks skip comes on the day after.
    (0..3).find_map(|n_days| {
        let day = now.date_naive().checked_add_days(Days::new(n_days))?;
        let at = now.timezone().from_local_datetime(&day.and_time(time)).earliest()?;
        (at > *now).then(|| at.to_utc())
    })
}

/// Parses how long a key works. The error says what is expected.
pub fn lifetime(text: &str) -> Result<Duration, String> {
    let parsed = Age::parse(text).ok().map(|Age(time)| time);
    parsed
        .filter(|time| !time.is_zero() && *time <= MAX_LIFETIME)
        .ok_or_else(|| "expected a time such as 12h or 90d, at most 3650d".to_owned())
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;

    #[test]
    fn a_time_of_day_is_today_or_tomorrow_where_the_person_is() {
        let now = DateTime::parse_from_rfc3339("2026-11-28T23:30:15+05:30").unwrap();
        let until = |text: &str| Until::parse::<FixedOffset>(text, &now).map(|Until(at)| at.to_rfc3339());
        for (text, expected) in [
            ("23:45", "2026-11-28T18:15:00+00:00"),
            ("06:00", "2026-11-29T00:30:00+00:00"),
            ("23:30", "2026-11-29T18:00:00+00:00"),
            ("2026-12-01T06:00:00+05:30", "2026-12-01T00:30:00+00:00"),
            ("2h", "2026-11-28T20:00:15+00:00"),
            (" 90s ", "2026-11-28T18:01:45+00:00"),
        ] {
            assert_eq!(until(text).as_deref(), Ok(expected), "{text}");
        }
        for text in ["", "6", "24:00", "06:60", "tomorrow", "2026-12-01", "06:00 PM", "-2h", "2w", "h"] {
            assert_eq!(until(text), Err(format!("expected {EXPECTED}")), "{text}");
        }
        for text in ["0h", "2026-11-28T18:00:00Z"] {
            assert!(until(text).is_err_and(|error| error.contains("over already")), "{text}");
        }
        for text in ["367d", "4000000000d", "2030-01-01T00:00:00Z"] {
            assert!(until(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_reason_is_one_line() {
        let why = |text: &str| Why::parse(text).map(|Why(text)| text);
        assert_eq!(why(" the disk is replaced ").as_deref(), Ok("the disk is replaced"));
        for text in ["", " ", "a\nb", &"x".repeat(201)] {
            assert!(why(text).is_err(), "{text:?}");
        }
    }
}
