//! Numbers with names, as programs that measure print them.

use std::time::Duration;

use crate::load::Sample;

/// Numbers with their names, in the order in which they are printed.
pub type Row = Vec<(&'static str, f64)>;

/// The number of durations, and their quantiles in ms.
pub fn quantiles(durations: impl IntoIterator<Item = Duration>) -> Row {
    let mut sorted: Vec<Duration> = durations.into_iter().collect();
    sorted.sort_unstable();
    let at = |q: f64| sorted.get(rank(sorted.len(), q)).map_or(f64::NAN, |d| d.as_secs_f64() * 1e3);
    vec![
        ("n", count(sorted.len())),
        ("p50_ms", at(0.5)),
        ("p90_ms", at(0.9)),
        ("p99_ms", at(0.99)),
        ("max_ms", at(1.0)),
    ]
}

/// The quantiles of the response times.
pub fn response_times(samples: &[Sample]) -> Row {
    quantiles(samples.iter().map(|sample| sample.took))
}

/// The median. For an even number of values, it is the lower of the two middle ones.
pub fn median(numbers: impl IntoIterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = numbers.into_iter().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(rank(sorted.len(), 0.5)).copied().unwrap_or(f64::NAN)
}

/// The number with this name in a row; NaN if there is none.
pub fn number(row: &[(&'static str, f64)], name: &str) -> f64 {
    row.iter().find(|(n, _)| *n == name).map_or(f64::NAN, |(_, v)| *v)
}

/// The index of a quantile by the nearest-rank method.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value is from 0 to n")]
fn rank(n: usize, q: f64) -> usize {
    ((count(n) * q).ceil() as usize).clamp(1, n.max(1)) - 1
}

/// A count as a floating-point number.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub fn count(n: usize) -> f64 {
    n as f64
}

/// Formats a number for tables.
pub fn short(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e9 {
        format!("{value:.0}")
    } else if value.abs() < 0.1 {
        format!("{value:.4}")
    } else {
        format!("{value:.2}")
    }
}

/// Formats a row as one line.
pub fn line(name: &str, row: &[(&'static str, f64)]) -> String {
    let numbers: Vec<String> = row.iter().map(|(name, value)| format!("{name} {}", short(*value))).collect();
    format!("  {name:<28} {}", numbers.join("  "))
}
