//! Bodies that are not a JSON object: bodies of another type, malformed ones and ones that are too large.

use akhar_tests::{
    Form, Stack,
    http::{connect, head, send},
};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::{GREETING, PATH, write, write_raw};

#[tokio::test]
async fn only_json_is_accepted() {
    let stack = Stack::start().await;
    let body = json!({"text": GREETING}).to_string();
    for content_type in [
        "application/json",
        "application/json; charset=utf-8",
        "Application/JSON;charset=UTF-8",
        "application/json ; x=y",
    ] {
        send(write_raw(&stack, content_type, body.clone())).await.strokes();
    }
    for other in [
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "application/jsonl",
        "application/problem+json",
        "json",
        "",
    ] {
        let problem = stack.refused(write_raw(&stack, other, body.clone()), 415).await;
        assert_eq!(problem.slug, "unsupported-content-type", "{other}");
        assert!(problem.json["detail"].to_string().contains("application/json"), "{}", problem.json);
    }
    stack.refused(stack.request("POST", PATH).body(body), 415).await;
    let form = Form::default().text("text", GREETING);
    stack.refused(write_raw(&stack, &form.content_type(), form.body()), 415).await;
}

#[tokio::test]
async fn a_body_that_is_not_a_json_object_is_malformed() {
    let stack = Stack::with().workers(0).start().await;
    let nested = |open: &str, close: &str| [open.repeat(30_000), close.repeat(30_000)].concat();
    let cases: [(&str, Vec<u8>); 18] = [
        ("nothing", Vec::new()),
        ("a space", b" ".to_vec()),
        ("cut off", b"{\"text\":\"\xe0\xa8\x95".to_vec()),
        ("an open object", format!("{{\"text\":\"{GREETING}\"").into()),
        ("a comma too many", format!("{{\"text\":\"{GREETING}\",}}").into()),
        ("single quotes", format!("{{'text':'{GREETING}'}}").into()),
        ("a name without quotes", format!("{{text:\"{GREETING}\"}}").into()),
        ("a comment", format!("{{\"text\":\"{GREETING}\"/*x*/}}").into()),
        ("something after", format!("{{\"text\":\"{GREETING}\"}}x").into()),
        ("two objects", format!("{{\"text\":\"{GREETING}\"}}{{}}").into()),
        ("a newline in a string", b"{\"text\":\"\n\"}".to_vec()),
        ("no number", format!("{{\"text\":\"{GREETING}\",\"line-space\":NaN}}").into()),
        ("no UTF-8", b"{\"text\":\"\xff\xfe\"}".to_vec()),
        ("an array", format!("[{{\"text\":\"{GREETING}\"}}]").into()),
        ("a string", format!("\"{GREETING}\"").into()),
        ("null", b"null".to_vec()),
        ("deep arrays", nested("[", "]").into()),
        ("deep objects, open", "{\"a\":".repeat(10_000).into()),
    ];
    for (what, body) in cases {
        let problem = stack.refused(write_raw(&stack, "application/json", body), 400).await;
        assert_eq!(problem.slug, "malformed-body", "{what}");
    }
    let problem = stack.refused(write_raw(&stack, "application/json", "{\n  \"text\": ਕ}"), 400).await;
    assert!(problem.json["detail"].to_string().contains("line 2 column 11"), "{}", problem.json);
    // Deep nesting in a field's value is only a wrong type.
    let deep = format!("{{\"text\":{}}}", nested("[", "]"));
    stack.refused(write_raw(&stack, "application/json", deep), 422).await;
    stack.jobs_are(0, "queued").await;
}

#[tokio::test]
async fn a_body_of_64_kib_is_accepted_and_one_byte_more_is_refused() {
    const MAX_BYTES: usize = 64 * 1024;
    let stack = Stack::start().await;
    let mut body = json!({"text": GREETING}).to_string().into_bytes();
    body.resize(MAX_BYTES, b' ');
    send(write_raw(&stack, "application/json", body.clone())).await.strokes();
    body.push(b' ');
    stack.refused(write_raw(&stack, "application/json", body), 413).await;

    // The rest of this body is never sent, so it must be refused while it arrives.
    let headers = [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")];
    let mut stream = connect(&stack.base, &head("POST", PATH, &stack.key, &headers)).await;
    let chunk = format!("{:x}\r\n{}\r\n", MAX_BYTES + 1, " ".repeat(MAX_BYTES + 1));
    stream.write_all(chunk.as_bytes()).await.expect("it takes what it can");
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.expect("an answer");
    assert_eq!(&status, b"HTTP/1.1 413");
}

#[tokio::test]
async fn other_methods_and_requests_without_a_key_are_refused() {
    let stack = Stack::with().workers(0).start().await;
    for method in ["GET", "PUT", "DELETE", "PATCH"] {
        let request = stack.request(method, PATH);
        assert_eq!(send(request.try_clone().expect("no body")).await.header("allow"), "POST", "{method}");
        stack.refused(request, 405).await;
    }
    stack.refused(stack.anonymous("POST", PATH).json(&json!({"text": GREETING})), 401).await;
    let request = write(&stack, &json!({"text": GREETING})).header("accept", "text/html");
    stack.refused(request, 406).await;
    stack.jobs_are(0, "queued").await;
}
