//! Calls decoders of other projects, which can panic on a damaged file.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::undecodable::Undecodable;

/// Calls code that decodes a file, or a part of it. If it panics, the file cannot be decoded.
pub(super) fn decoded<T>(
    part: &'static str,
    call: impl FnOnce() -> Result<T, Undecodable>,
) -> Result<T, Undecodable> {
    let damaged = || Undecodable::new("undecodable", "the file cannot be read: it is damaged");
    guarded(part, call).ok_or_else(damaged)?
}

/// Calls code that parses a file. `None` if it panics, which is a defect of that code: a damaged file is the caller's
/// error, and the job need not be tried again. The panic hook logs the place, and this the file's part. What `call` has
/// changed must not be used after a panic.
pub(super) fn guarded<T>(part: &'static str, call: impl FnOnce() -> T) -> Option<T> {
    let result = catch_unwind(AssertUnwindSafe(call));
    result.inspect_err(|_| tracing::error!(part, "a decoder panicked: the file is refused")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_decoder_is_no_panic_of_the_attempt() {
        assert_eq!(decoded("header", || Ok(7)).unwrap(), 7);
        let error = decoded("header", || Ok([1, 2, 3].repeat(usize::MAX).len())).unwrap_err();
        assert_eq!(error.code, "undecodable");
    }
}
