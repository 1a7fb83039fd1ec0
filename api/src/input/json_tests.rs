//! Tests with valid and invalid bodies, and the property that no body causes a panic.

use axum::body::Body;
use proptest::prelude::*;

use super::*;
use crate::input::body::tests::stalling;
use crate::input::memory::tests::plenty;

/// The members of a body, or the detail of its problem.
fn members(body: &[u8]) -> Result<Vec<(String, String)>, String> {
    let text = |(name, value): (String, Box<RawValue>)| (name, value.get().to_owned());
    match parse(body) {
        Ok(members) => Ok(members.into_iter().map(text).collect()),
        Err(problem) => {
            assert_eq!(problem.problem_type(), ProblemType::MalformedBody);
            let body = serde_json::to_value(problem.body("/", "r")).unwrap();
            Err(body["detail"].as_str().unwrap().to_owned())
        }
    }
}

async fn sent(content_type: Option<&str>, body: impl Into<Body>) -> Result<usize, ProblemType> {
    let mut request = Request::post("/");
    if let Some(content_type) = content_type {
        request = request.header("content-type", content_type);
    }
    read(request.body(body.into()).unwrap(), &plenty()).await.map(|m| m.len()).map_err(|p| p.problem_type())
}

#[tokio::test]
async fn the_content_type_is_checked_first() {
    for json in [
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/json;charset=UTF-8",
        "application/json ; x=y",
    ] {
        assert_eq!(sent(Some(json), "{}").await, Ok(0), "{json}");
    }
    for other in [
        "",
        "application/jsonp",
        "application/problem+json",
        "text/json",
        "text/plain",
        "multipart/form-data; boundary=B",
    ] {
        assert_eq!(sent(Some(other), "{}").await, Err(ProblemType::UnsupportedContentType), "{other}");
    }
    assert_eq!(sent(None, "{}").await, Err(ProblemType::UnsupportedContentType));
}

#[tokio::test(start_paused = true)]
async fn a_body_is_bounded_in_bytes_members_and_time() {
    let json = Some("application/json");
    let filled = |n: usize| format!("{{\"x\":1{}}}", " ".repeat(n - 7));
    assert_eq!(sent(json, filled(MAX_BYTES)).await, Ok(1));
    assert_eq!(sent(json, filled(MAX_BYTES + 1)).await, Err(ProblemType::TooLarge));
    let of = |n: usize| format!("{{{}}}", vec!["\"x\":1"; n].join(","));
    assert_eq!(sent(json, of(MAX_MEMBERS)).await, Ok(MAX_MEMBERS));
    assert_eq!(sent(json, of(MAX_MEMBERS + 1)).await, Err(ProblemType::MalformedBody));
    assert_eq!(sent(json, stalling(|| None)).await, Err(ProblemType::BodyTimeout));
}

#[test]
fn members_keep_their_order_and_text() {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(members(b"{}"), Ok(vec![]));
    assert_eq!(members(b"\xef\xbb\xbf{}"), Ok(vec![]), "a byte order mark");
    assert_eq!(
        members(br#" { "a" : 1.50 , "b":[{"c":null}], "\u0061":"x\ny" } "#),
        Ok(vec![pair("a", "1.50"), pair("b", r#"[{"c":null}]"#), pair("a", r#""x\ny""#)])
    );
    let huge = br#"{"a":1e999}"#;
    assert_eq!(members(huge), Ok(vec![pair("a", "1e999")]), "a number may have any size");
}

#[test]
fn the_error_says_what_is_wrong_and_where() {
    for (body, mentions) in [
        (&b""[..], "line 1 column 0"),
        (b"{", "line 1 column 1"),
        (b"{\"a\":\n 1,}", "line 2 column 4"),
        (b"{\"a\" 1}", "line 1 column 6"),
        (b"{'a':1}", "line 1 column 2"),
        (b"{\"a\":01}", "line 1 column 7"),
        (b"{\"a\":+1}", "line 1 column 6"),
        (b"{\"a\":NaN}", "line 1 column 6"),
        (b"{\"a\":True}", "line 1 column 6"),
        (b"{\"a\":\"\t\"}", "control character"),
        (b"{\"a\":\"\\x\"}", "escape"),
        (b"{\"\\ud800\":1}", "line 1 column"),
        (b"{} {}", "trailing"),
        (b"\xef\xbb\xbf\xef\xbb\xbf{}", "line 1 column 1"),
        (b"\xff\xfe{\0}\0", "UTF-16"),
        (b"{\"a\":\"\xff\"}", "byte 7"),
        (b"\xff", "byte 1"),
        (b"[]", "an array"),
        (b"[{}]", "an array"),
        (b"\"{}\"", "a string"),
        (b"null", "null"),
        (b" true", "a boolean"),
        (b"-1", "a number"),
    ] {
        let detail = members(body).unwrap_err();
        assert!(detail.contains(mentions), "{}: {detail}", String::from_utf8_lossy(body));
        assert!(detail.len() < 200, "{detail}");
    }
    let long = format!("\"{}\"", "x".repeat(10_000));
    assert!(members(long.as_bytes()).unwrap_err().len() < 200, "the error does not quote the whole body");
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let n = 8_000;
        let deep = format!("{{\"a\":{}1{}}}", open.repeat(n), close.repeat(n));
        assert_eq!(members(deep.as_bytes()).unwrap().len(), 1);
        assert!(members(open.repeat(n).as_bytes()).is_err());
    }
}

proptest! {
    #[test]
    fn no_body_causes_a_panic(noise in prop::collection::vec(any::<u8>(), 0..300), text in "\\PC*") {
        let _any = members(&noise);
        let _any = members(format!("{{{text}}}").as_bytes());
        let _any = members(format!("{{\"a\":{text}}}").as_bytes());
        if let Ok(quoted) = serde_json::to_string(&text) {
            prop_assert_eq!(members(format!("{{{quoted}:{quoted}}}").as_bytes()), Ok(vec![(text, quoted)]));
        }
    }
}
