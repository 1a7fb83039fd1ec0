//! What is checked about every request before it is routed: its target, and the headers that say how to read it.

use std::borrow::Cow;

use axum::http::{HeaderMap, Request, Uri, Version, header};

use super::host::Host;
use crate::problems::{Problem, ProblemType};

/// Checks the headers and brings the path into its normal form, in which `%2D` is `-`.
pub(crate) fn check<B>(request: &mut Request<B>) -> Result<(), Problem> {
    check_host(request.version(), request.headers())?;
    check_authority(request.uri())?;
    check_expect(request.headers())?;
    check_transfer_coding(request.headers())?;
    let path = normal_path(request.uri().path())?;
    if let Cow::Owned(path) = path {
        *request.uri_mut() = with_path(request.uri().clone(), &path)?;
    }
    Ok(())
}

/// A request has one Host header, which is the name of a host (RFC 9112, 3.2). HTTP/1.0 does not require it.
fn check_host(version: Version, headers: &HeaderMap) -> Result<(), Problem> {
    let mut values = headers.get_all(header::HOST).iter();
    match (values.next(), values.next()) {
        (None, _) if version < Version::HTTP_11 => Ok(()),
        (None, _) => Err(malformed("The request has no Host header.")),
        (Some(_), Some(_)) => Err(malformed("The request has more than one Host header.")),
        (Some(host), None) if host.is_empty() || host.to_str().ok().and_then(Host::parse).is_some() => Ok(()),
        (Some(_), None) => Err(malformed("The Host header is not the name of a host.")),
    }
}

/// A target that names a host names it as the Host header does.
fn check_authority(target: &Uri) -> Result<(), Problem> {
    let is_host = target.authority().is_none_or(|authority| Host::parse(authority.as_str()).is_some());
    if is_host {
        Ok(())
    } else {
        Err(malformed("The host in the target of the request is not the name of a host."))
    }
}

/// The only expectation is `100-continue` (RFC 9110, 10.1.1).
fn check_expect(headers: &HeaderMap) -> Result<(), Problem> {
    let is_known = |value: &[u8]| value.eq_ignore_ascii_case(b"100-continue");
    if headers.get_all(header::EXPECT).iter().all(|value| is_known(value.as_bytes())) {
        Ok(())
    } else {
        Err(Problem::of(ProblemType::ExpectationFailed))
    }
}

/// The only transfer coding is `chunked`, applied once (RFC 9112, 6.1).
fn check_transfer_coding(headers: &HeaderMap) -> Result<(), Problem> {
    let mut values = headers.get_all(header::TRANSFER_ENCODING).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(()),
        (Some(value), None) if value.as_bytes().eq_ignore_ascii_case(b"chunked") => Ok(()),
        _ => Err(Problem::of(ProblemType::UnsupportedTransferCoding)),
    }
}

/// Decodes the characters of a path that mean the same with and without percent-encoding: letters, digits and `-._~`
/// (RFC 3986, 6.2.2.2). Fails if a `%` is not followed by two hexadecimal digits.
fn normal_path(path: &str) -> Result<Cow<'_, str>, Problem> {
    let mut pieces = path.split('%');
    let mut normal = pieces.next().unwrap_or_default().to_owned();
    if normal.len() == path.len() {
        return Ok(path.into());
    }
    for piece in pieces {
        let digits = piece.get(..2).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let byte =
            byte.ok_or_else(|| malformed("A % in the path is not followed by two hexadecimal digits."))?;
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            normal.push(char::from(byte));
            normal.push_str(&piece[2..]);
        } else {
            normal.push('%');
            normal.push_str(piece);
        }
    }
    Ok(normal.into())
}

fn with_path(uri: Uri, path: &str) -> Result<Uri, Problem> {
    let text = uri.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
    let mut parts = uri.into_parts();
    let invalid = |_| malformed("The path cannot be parsed.");
    parts.path_and_query = Some(text.try_into().map_err(invalid)?);
    Uri::from_parts(parts).map_err(|_| malformed("The path cannot be parsed."))
}

fn malformed(detail: &'static str) -> Problem {
    Problem::of(ProblemType::MalformedRequest).with_detail(detail)
}

#[cfg(test)]
mod tests {
    use axum::http::request::Builder;

    use super::*;

    /// The path after the check, or the type of the problem.
    fn checked(request: Builder) -> Result<String, ProblemType> {
        let mut request = request.body(()).unwrap();
        check(&mut request).map_err(|problem| problem.problem_type())?;
        Ok(request.uri().to_string())
    }

    fn to(target: &str) -> Builder {
        Request::builder().uri(target).header("host", "akhar")
    }

    #[test]
    fn unreserved_characters_are_decoded_and_others_are_not() {
        for (target, normal) in [
            ("/v1/models/digit%2Drecognition", "/v1/models/digit-recognition"),
            ("/v1/models/digit%2drecognitio%6E?a=%2D", "/v1/models/digit-recognition?a=%2D"),
            ("/a%2Fb%25%FF", "/a%2Fb%25%FF"),
            ("http://akhar/%61", "http://akhar/a"),
            ("/a?b=%zz", "/a?b=%zz"),
        ] {
            assert_eq!(checked(to(target)).as_deref(), Ok(normal));
        }
        for target in ["/%", "/a%2", "/%zz", "/%+1"] {
            assert_eq!(checked(to(target)), Err(ProblemType::MalformedRequest), "{target}");
        }
    }

    #[test]
    fn one_valid_host_is_required() {
        let hosts = |hosts: &[&str]| {
            let request = Request::builder().uri("/");
            checked(hosts.iter().fold(request, |request, host| request.header("host", *host))).map(|_| ())
        };
        for valid in ["akhar", "akhar:80", "127.0.0.1:8080", "[::1]:80", ""] {
            assert_eq!(hosts(&[valid]), Ok(()), "{valid}");
        }
        for invalid in [&[][..], &["a", "a"], &["a b"], &["a/b"], &["a@b"], &["a:99999"]] {
            assert_eq!(hosts(invalid), Err(ProblemType::MalformedRequest), "{invalid:?}");
        }
        assert!(checked(to("http://a:80/")).is_ok());
        assert_eq!(checked(to("http://a@b/")), Err(ProblemType::MalformedRequest));
        let old = Request::builder().uri("/").version(Version::HTTP_10);
        assert!(checked(old).is_ok());
    }

    #[test]
    fn unknown_expectations_and_transfer_codings_are_refused() {
        let with = |name: &str, value: &str| checked(to("/").header(name, value)).map(|_| ());
        assert_eq!(with("expect", "100-Continue"), Ok(()));
        assert_eq!(with("expect", "200-ok"), Err(ProblemType::ExpectationFailed));
        assert_eq!(with("transfer-encoding", "Chunked"), Ok(()));
        for coding in ["gzip, chunked", "chunked, chunked", "identity"] {
            assert_eq!(with("transfer-encoding", coding), Err(ProblemType::UnsupportedTransferCoding));
        }
    }
}
