//! Tests with valid and invalid bodies, and the property that no body causes a panic or exceeds a limit.

use akhar_requests::{KeyTerm, MediaType, key_term::MAX_TERMS};
use axum::body::Body;
use bytes::Bytes;
use proptest::prelude::*;

use super::*;
use crate::input::{
    body::tests::stalling,
    field::{AnyField as _, Field, field},
    memory::tests::plenty,
};

const MAX: usize = 100;
/// How a JPEG begins.
const JPEG: &[u8] = b"\xff\xd8\xff";
const TOP_K: Field<String> = field("top-k");
const TERMS: Field<Vec<KeyTerm>> = field("keyterms");
const FILE: File = File {
    text: "",
    max_bytes: Some(MAX),
    types: MediaType::IMAGES,
    if_other: None,
    if_larger: Some("send less"),
    url: None,
};

fn text(form: &mut Values) -> Option<String> {
    form.take(&TOP_K)
}

fn file(form: &mut Values) -> Option<Bytes> {
    form.take_file(&FILE).map(|upload| upload.bytes)
}

async fn read_raw(content_type: &str, body: impl Into<Body>) -> Result<Values, ProblemType> {
    let request = Request::post("/").header("content-type", content_type).body(body.into()).unwrap();
    read(request, &[File::SLOT, TOP_K.slot(), TERMS.slot()], &FILE, MAX, &plenty())
        .await
        .map_err(|p| p.problem_type())
}

async fn read_body(body: impl Into<Body>) -> Result<Values, ProblemType> {
    read_raw("multipart/form-data; boundary=B", body).await
}

fn part(name: &str, value: &[u8]) -> Vec<u8> {
    let mut part = format!("--B\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n").into_bytes();
    part.extend_from_slice(value);
    part.extend_from_slice(b"\r\n");
    part
}

fn body(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut body: Vec<u8> = parts.iter().flat_map(|(name, value)| part(name, value)).collect();
    body.extend_from_slice(b"--B--\r\n");
    body
}

fn codes(form: &Values) -> Vec<(&str, &str)> {
    form.violations.iter().map(|v| (v.field.as_str(), v.code.as_str())).collect()
}

#[tokio::test]
async fn fields_may_have_any_order() {
    for parts in [[("file", JPEG), ("top-k", &b"4"[..])], [("top-k", b"4"), ("file", JPEG)]] {
        let mut form = read_body(body(&parts)).await.unwrap();
        assert_eq!(file(&mut form).unwrap(), JPEG);
        assert_eq!(text(&mut form).unwrap(), "4");
        assert_eq!(codes(&form), []);
    }
}

#[tokio::test]
async fn a_file_may_be_as_large_as_the_limit_but_no_larger() {
    let at = |n: usize| body(&[("file", &[JPEG, &vec![7; n - JPEG.len()]].concat())]);
    let mut form = read_body(at(MAX)).await.unwrap();
    assert_eq!(file(&mut form).unwrap().len(), MAX);
    assert_eq!(read_body(at(MAX + 1)).await.unwrap_err(), ProblemType::TooLarge);
}

#[tokio::test]
async fn a_body_is_limited_with_and_without_a_content_length() {
    let long = body(&[("other", &vec![7; OVERHEAD + MAX])]);
    assert_eq!(read_body(long.clone()).await.unwrap_err(), ProblemType::TooLarge);
    let announced = Request::post("/").header("content-length", long.len()).body(Body::empty()).unwrap();
    let refused = read(announced, &[], &FILE, MAX, &plenty()).await.unwrap_err();
    assert_eq!(refused.problem_type(), ProblemType::TooLarge);
    assert_eq!(
        refused.body("/", "r").detail,
        "The body is larger than the limit of 65636 bytes. file may have at most 100 bytes: send less."
    );
}

#[tokio::test]
async fn an_empty_text_counts_as_absent_and_an_empty_file_does_not() {
    let parts = [("top-k", &b""[..]), ("keyterms", b""), ("top-k", b"4"), ("keyterms", b""), ("file", b"")];
    let mut form = read_body(body(&parts)).await.unwrap();
    assert_eq!((text(&mut form).as_deref(), form.take(&TERMS)), (Some("4"), None));
    assert!(file(&mut form).is_none());
    assert_eq!(codes(&form), [("file", "empty")]);
}

#[tokio::test]
async fn boundaries_may_stand_without_quotation_marks() {
    for sent in ["a=b", "=", "a:b", "a/b", "a?b", "a,b", "(a b)", "\u{e9}"] {
        let body = body(&[("top-k", b"4")]);
        let body = String::from_utf8(body).unwrap().replace("--B", &format!("--{sent}"));
        for content_type in [
            format!("multipart/form-data; boundary={sent}"),
            format!("Multipart/Form-Data ; charset=utf-8;Boundary = {sent} ;x=y"),
            format!("multipart/form-data;boundary=\"{sent}\""),
        ] {
            let mut form = read_raw(&content_type, body.clone()).await.unwrap();
            assert_eq!(text(&mut form).as_deref(), Some("4"), "{content_type}");
        }
    }
}

#[tokio::test]
async fn violations_are_collected() {
    let long = vec![b'1'; TOP_K.slot().max_bytes + 1];
    let parts = [("top_k", &b"1"[..]), ("top-k", &long), ("top-k", b"2"), ("File", b"x"), ("file", b"")];
    let mut form = read_body(body(&parts)).await.unwrap();
    assert!(text(&mut form).is_none());
    assert!(file(&mut form).is_none());
    assert_eq!(
        codes(&form),
        [
            ("top_k", "unknown"),
            ("top-k", "too_long"),
            ("top-k", "duplicated"),
            ("File", "unknown"),
            ("file", "empty")
        ]
    );
}

#[tokio::test]
async fn a_list_may_be_as_long_as_its_limit_but_no_longer() {
    let of = |n: usize| body(&vec![("keyterms", "ਗੁਰਕੀਰਤ".as_bytes()); n]);
    let mut form = read_body(of(MAX_TERMS)).await.unwrap();
    assert_eq!(form.take(&TERMS).map(|terms| terms.len()), Some(MAX_TERMS));
    assert_eq!(codes(&form), []);
    let form = read_body(of(2 * MAX_TERMS)).await.unwrap();
    assert_eq!(codes(&form), [("keyterms", "too_many")]);
    assert_eq!(form.violations[0].detail, "keyterms is given more than 100 times, expected at most 100");
    let mut form =
        read_body(body(&[("keyterms", b"22"), ("keyterms", "ਕ".repeat(65).as_bytes())])).await.unwrap();
    assert_eq!(form.take(&TERMS), None);
    assert_eq!(codes(&form), [("keyterms", "no_letter"), ("keyterms", "too_long")]);
}

#[tokio::test]
async fn text_that_is_not_utf8_and_an_absent_file_are_violations() {
    let mut form = read_body(body(&[("top-k", b"\xff3")])).await.unwrap();
    assert!(text(&mut form).is_none() && file(&mut form).is_none());
    assert_eq!(codes(&form), [("top-k", "not_utf8"), ("file", "missing")]);
}

#[tokio::test]
async fn a_body_that_cannot_be_parsed_is_malformed() {
    let whole = body(&[("file", b"xyz")]);
    for cut in [0, 1, 10, 60, whole.len() - 8] {
        assert_eq!(read_body(whole[..cut].to_vec()).await.unwrap_err(), ProblemType::MalformedBody, "{cut}");
    }
    assert_eq!(read_body("--X\r\n\r\n--X--\r\n").await.unwrap_err(), ProblemType::MalformedBody);
    assert_eq!(read_body("--B\r\nX: y\r\n\r\nv\r\n--B--\r\n").await.unwrap_err(), ProblemType::MalformedBody);
    assert_eq!(
        read_body(body(&[("x", &b""[..]); MAX_PARTS + 2 * MAX_TERMS + 1])).await.unwrap_err(),
        ProblemType::MalformedBody
    );
    assert!(read_body(body(&[("x", &b""[..]); MAX_PARTS + 2 * MAX_TERMS])).await.is_ok());
}

#[tokio::test]
async fn the_content_type_is_checked_first() {
    let no_boundary = read_raw("multipart/form-data", "").await;
    assert_eq!(no_boundary.unwrap_err(), ProblemType::MalformedBody);
    for other in ["application/json", "multipart/mixed; boundary=B", "", "x", "ੳ/ਅ"] {
        assert_eq!(read_raw(other, "").await.unwrap_err(), ProblemType::UnsupportedContentType, "{other}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stalls_times_out() {
    let mut began = false;
    let stalled = stalling(move || if std::mem::replace(&mut began, true) { None } else { Some("--B\r\n") });
    assert_eq!(read_body(stalled).await.unwrap_err(), ProblemType::BodyTimeout);
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

proptest! {
    #[test]
    fn no_body_causes_a_panic_or_exceeds_a_limit(noise in prop::collection::vec(any::<u8>(), 0..400), cut in 0_usize..500) {
        let mut bytes = body(&[("top-k", &noise), ("file", &noise)]);
        bytes.truncate(cut.max(1) * bytes.len() / 400);
        if let Ok(mut form) = block_on(read_body(bytes)) {
            prop_assert!(text(&mut form).is_none_or(|t| t.len() <= TOP_K.slot().max_bytes));
            prop_assert!(file(&mut form).is_none_or(|f| f.len() <= MAX));
            prop_assert!(form.violations.len() <= 2 * MAX_PARTS);
        }
    }

    #[test]
    fn no_header_causes_a_panic(content_type in "\\PC*", disposition in "\\PC*", raw in prop::collection::vec(any::<u8>(), 0..200)) {
        let _any = block_on(read_raw(&format!("multipart/form-data; boundary={}", content_type.replace(|c: char| !c.is_ascii(), "")), raw.clone()));
        let mut bytes = format!("--B\r\nContent-Disposition: {disposition}\r\n\r\n").into_bytes();
        bytes.extend_from_slice(&raw);
        let _any = block_on(read_body(bytes));
        let _any = block_on(read_body(raw));
    }
}
