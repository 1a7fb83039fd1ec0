//! Tests the recognition form: defaults, limits, violations, and which problem they become.

use serde_json::{Value, json};

use super::*;
use crate::operations::form;

const MAX_IMAGE_BYTES: usize = 15 * 1024;
const PNG: &[u8] = b"\x89PNG\r\n\x1a\nrest";

/// The value of `top-k`, or the problem's status and its pairs of field and code.
async fn read(query: &str, parts: &[(&str, &[u8])]) -> Result<u8, (u64, Value)> {
    let mut body = Vec::new();
    for (name, value) in parts {
        body.extend(format!("--B\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n").bytes());
        body.extend_from_slice(value);
        body.extend(b"\r\n");
    }
    body.extend(b"--B--\r\n");
    form::tests::read::<RecognitionForm>(query, "multipart/form-data; boundary=B", body).await.map(TopK::get)
}

#[tokio::test]
async fn the_default_of_top_k_is_3() {
    assert_eq!(read("", &[("file", PNG)]).await, Ok(3));
    assert_eq!(read("", &[("top-k", b"5"), ("file", PNG)]).await, Ok(5));
}

#[tokio::test]
async fn all_violations_are_reported_together() {
    let all = read("?top-k=1", &[("top_k", b"1"), ("top-k", b"x")]).await;
    assert_eq!(
        all,
        Err((
            422,
            json!([
                ["top_k", "unknown"],
                ["top-k", "unknown"],
                ["file", "missing"],
                ["top-k", "not_an_integer"]
            ])
        ))
    );
}

#[tokio::test]
async fn the_most_severe_violation_decides_the_status() {
    let large = vec![0; MAX_IMAGE_BYTES + 1];
    assert_eq!(read("", &[("top-k", b"9"), ("file", &large)]).await.unwrap_err().0, 413);
    let unsupported = read("", &[("file", b"GIF89a"), ("top-k", b"9")]).await;
    assert_eq!(
        unsupported,
        Err((415, json!([["file", "unsupported_media_type"], ["top-k", "out_of_range"]])))
    );
    assert_eq!(read("", &[("file", b"")]).await, Err((422, json!([["file", "empty"]]))));
}

#[tokio::test]
async fn the_size_limit_is_inclusive() {
    let mut file = PNG.to_vec();
    file.resize(MAX_IMAGE_BYTES, 0);
    assert_eq!(read("", &[("file", &file)]).await, Ok(3));
}
