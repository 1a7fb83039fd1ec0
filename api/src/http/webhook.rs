//! The headers Akhar-Webhook and Akhar-Group-Webhook: where the end of the request's job and that of its group are announced.

use akhar_webhooks::{CallerUrl, CallerUrlError, MAX_URL_BYTES, UrlRules};
use axum::http::HeaderMap;

use super::header::Header;
use crate::{input::caller_url::code, problems::Violation};

/// The header with the URL of the job.
pub(crate) const OF_JOB: Header = of_url(
    "Akhar-Webhook",
    "An `https` URL to which the end of the job is announced, as the webhook `job-ended` of this document describes. In place\n\
     of the URL of your account, if it has one. Your account needs a secret that signs webhooks.",
);

/// The header with the URL of the job's group.
pub(crate) const OF_GROUP: Header = of_url(
    "Akhar-Group-Webhook",
    "An `https` URL to which the end of the group of `Akhar-Group` is announced, as the webhook `group-ended` of this document\n\
     describes. It is that of the whole group until another request names another one. In place of the URL of your account.",
);

const fn of_url(name: &'static str, description: &'static str) -> Header {
    Header {
        max_length: Some(MAX_URL_BYTES),
        pattern: Some("^https?://"),
        example: Some("https://example.com/akhar"),
        ..Header::new(name, description)
    }
}

/// The URL in one of these headers. `None` if the request does not have it.
pub(crate) fn read(
    header: &Header,
    headers: &HeaderMap,
    rules: &UrlRules,
) -> Result<Option<CallerUrl>, Violation> {
    let Some(value) = header.read(headers)? else { return Ok(None) };
    let url = value.to_str().map_err(|_| CallerUrlError::NotAUrl).and_then(|text| rules.parse(text));
    url.map(Some).map_err(|error| header.violation(code(&error), error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_that_may_not_be_used_is_a_violation() {
        let read = |lines: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(OF_JOB.name, (*line).try_into().unwrap());
            }
            let url = read(&OF_JOB, &headers, &UrlRules::default());
            url.map(|url| url.map(|url| url.as_str().to_owned())).map_err(|violation| violation.code)
        };
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&[b""]), Ok(None));
        assert_eq!(read(&[b"https://example.com"]), Ok(Some("https://example.com/".to_owned())));
        let long = format!("https://example.com/{}", "x".repeat(2048));
        for (line, code) in [
            (&b"\xff"[..], "not_a_url"),
            (b"https://example.com/#x", "not_allowed"),
            (b"http://example.com/", "not_allowed"),
            (b"https://127.0.0.1/", "not_allowed"),
            (long.as_bytes(), "too_long"),
        ] {
            assert_eq!(read(&[line]), Err(code.to_owned()));
        }
        assert_eq!(read(&[b"https://a.example", b"https://b.example"]), Err("duplicated".to_owned()));
    }
}
