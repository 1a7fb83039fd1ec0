//! The Akhar-Retain header: how long the request's job is kept after its end.

use axum::http::HeaderMap;

use super::header::Header;
use crate::problems::{Code, Violation};

/// The header.
pub(crate) const HEADER: Header = Header {
    pattern: Some("^[0-9]{1,9}$"),
    example: Some("3600"),
    ..Header::new(
        "Akhar-Retain",
        "For how many seconds after its end the job is kept, with its result and its `Idempotency-Key`. 0: until its result is\n\
         delivered the first time. The most is the time for which the operator keeps the jobs of your account.",
    )
};

/// The seconds. `None` if the request has no such header.
pub(crate) fn read(headers: &HeaderMap) -> Result<Option<i32>, Violation> {
    let Some(value) = HEADER.read(headers)? else { return Ok(None) };
    let text = value.to_str().unwrap_or_default();
    let is_number = (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    let seconds = is_number.then(|| text.parse().ok()).flatten();
    let not_a_number = || HEADER.violation(Code::NotAnInteger, "is not a number of seconds, such as 3600");
    seconds.map(Some).ok_or_else(not_a_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(lines: &[&[u8]]) -> Result<Option<i32>, String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(HEADER.name, (*line).try_into().unwrap());
        }
        read(&headers).map_err(|violation| violation.code)
    }

    #[test]
    fn seconds_are_decimal_digits() {
        assert_eq!(seconds(&[]), Ok(None));
        assert_eq!(seconds(&[b""]), Ok(None));
        assert_eq!(seconds(&[b"0"]), Ok(Some(0)));
        assert_eq!(seconds(&[b"999999999"]), Ok(Some(999_999_999)));
        for odd in [&b"-1"[..], b"+1", b"1.5", b"1 h", b"1000000000", b"\xff", "੧".as_bytes()] {
            assert_eq!(seconds(&[odd]), Err("not_an_integer".to_owned()), "{odd:?}");
        }
        assert_eq!(seconds(&[b"1", b"1"]), Err("duplicated".to_owned()));
    }
}
