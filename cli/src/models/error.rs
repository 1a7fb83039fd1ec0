//! Converts the errors of `akhar models` into failures.

use std::error::Error;

use crate::failure::Failure;

/// Makes a failure of `akhar models <what>`.
pub(super) fn failed<E: Error + Send + Sync + 'static>(what: &str) -> impl FnOnce(E) -> Failure {
    let what = format!("models {what}");
    |error| Failure::Io { what, source: std::io::Error::other(error) }
}
