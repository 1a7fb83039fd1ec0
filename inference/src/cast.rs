//! Casts between counts and floating-point numbers.

/// A count as a floating-point number.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
pub(crate) const fn count(n: usize) -> f64 {
    n as f64
}

/// A number in the precision of features, which is `f32`.
#[expect(clippy::cast_possible_truncation, reason = "features have this precision")]
pub(crate) const fn narrow(value: f64) -> f32 {
    value as f32
}

/// A length as a dimension of a tensor.
pub(crate) fn dimension(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
