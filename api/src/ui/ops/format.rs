//! Numbers, times and durations as the pages show them.

use chrono::{DateTime, Utc};
use maud::{Markup, html};

/// A number with separators: `12,345`.
pub(super) fn number(n: i64) -> String {
    let digits = n.unsigned_abs().to_string();
    let mut text = String::from(if n < 0 { "-" } else { "" });
    for (nth, digit) in digits.chars().enumerate() {
        if nth > 0 && (digits.len() - nth).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number that was counted up to `max`: `10,000+` for more.
pub(super) fn counted(n: i64, max: i64) -> String {
    if n > max { format!("{}+", number(max)) } else { number(n) }
}

/// A duration in its largest unit: `3 s`, `4 min`.
pub(super) fn duration(seconds: f64) -> String {
    let seconds = seconds.max(0.0);
    let (n, unit) = match seconds {
        s if s < 60.0 => (s, "s"),
        s if s < 3600.0 => (s / 60.0, "min"),
        s if s < 86_400.0 => (s / 3600.0, "h"),
        s => (s / 86_400.0, "d"),
    };
    let n = if n < 10.0 && seconds >= 60.0 { format!("{n:.1}") } else { format!("{n:.0}") };
    format!("{n} {unit}")
}

/// A duration, with milliseconds if it is short.
pub(super) fn exact_duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", s.max(0.0) * 1e3),
        s if s < 60.0 => format!("{s:.1} s"),
        s => duration(s),
    }
}

/// A number of events in a minute: `12`, or `0.5` for few.
pub(super) fn rate(per_minute: f64) -> String {
    if per_minute > 0.0 && per_minute < 10.0 {
        format!("{per_minute:.1}")
    } else {
        format!("{per_minute:.0}")
    }
}

/// Microseconds as milliseconds.
pub(super) fn milliseconds(us: i32) -> String {
    format!("{:.1} ms", f64::from(us) / 1e3)
}

/// A time, UTC.
pub(super) fn time(at: DateTime<Utc>) -> Markup {
    html! { time datetime=(at.format("%FT%TZ")) { (at.format("%F %T")) } }
}

/// The seconds between two times.
pub(super) fn seconds_between(from: DateTime<Utc>, to: DateTime<Utc>) -> f64 {
    (to - from).as_seconds_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_separators_and_bounds() {
        assert_eq!(number(0), "0");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(number(-1000), "-1,000");
        assert_eq!(counted(10_000, 10_000), "10,000");
        assert_eq!(counted(10_001, 10_000), "10,000+");
    }

    #[test]
    fn durations_have_one_unit() {
        for (seconds, text) in [
            (0.0, "0 s"),
            (59.4, "59 s"),
            (90.0, "1.5 min"),
            (1800.0, "30 min"),
            (7200.0, "2.0 h"),
            (864_000.0, "10 d"),
        ] {
            assert_eq!(duration(seconds), text);
        }
        assert_eq!((exact_duration(0.0071), exact_duration(2.0)), ("7 ms".to_owned(), "2.0 s".to_owned()));
        assert_eq!((rate(0.0), rate(0.5), rate(700.2)), ("0".to_owned(), "0.5".to_owned(), "700".to_owned()));
    }
}
