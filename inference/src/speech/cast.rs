//! Casts between counts and real numbers.

/// A count as a real number.
#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
pub(crate) const fn count(n: usize) -> f64 {
    n as f64
}

/// A real number in the precision of features.
#[expect(clippy::cast_possible_truncation, reason = "to the precision features have")]
pub(crate) const fn narrow(value: f64) -> f32 {
    value as f32
}
