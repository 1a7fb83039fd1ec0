//! HTTP: bodies that are not a form, other methods, other paths.

use akhar_tests::{
    Form, Seam, Stack,
    http::{connect, head, raw, send, to_end},
    speech::recording,
    until,
};
use serde_json::json;

use rustix::process::Signal;

use crate::operations;

#[tokio::test]
async fn a_body_that_is_not_a_form_is_refused() {
    let stack = Stack::start().await;
    for image in operations() {
        let path = format!("/v1/models/{}", image.operation);
        let form = Form::upload_and(&image.bytes, "top-k", "2");
        let whole = form.content_type();
        let headless = [b"--akhar-tests-boundary\r\n\r\n".as_slice(), &image.bytes].concat();
        let cases: [(&str, Option<&str>, Vec<u8>, u16); 9] = [
            ("no boundary", Some("multipart/form-data"), form.body(), 400),
            ("another boundary", Some("multipart/form-data; boundary=other"), form.body(), 400),
            ("no end", Some(&whole), form.unended_body(), 400),
            ("no body", Some(&whole), Vec::new(), 400),
            ("a part without a head", Some(&whole), headless, 400),
            ("noise", Some(&whole), vec![0x7f; 500], 400),
            ("JSON", Some("application/json"), b"{\"top-k\": 3}".to_vec(), 415),
            ("an image as the body", Some("image/png"), image.bytes.clone(), 415),
            ("no content type", None, form.body(), 415),
        ];
        for (what, content_type, body, status) in cases {
            let mut request = stack.request("POST", &path).body(body);
            if let Some(content_type) = content_type {
                request = request.header("content-type", content_type);
            }
            let answer = send(request.try_clone().expect("bytes")).await;
            assert_eq!(answer.status, status, "{what}: {}", String::from_utf8_lossy(&answer.body));
            stack.refused(request, status).await;
        }
    }
    stack.jobs_are(0, "queued").await;
}

#[tokio::test]
async fn a_request_that_is_not_valid_http_is_refused() {
    let stack = Stack::with().workers(0).start().await;
    let cases = [
        ("GET /health/live HTTP/1.1\r\n\r\n", 400, "malformed-request"),
        ("GET /health/live HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "malformed-request"),
        ("GET /health/live HTTP/1.1\r\nHost: a@b\r\n\r\n", 400, "malformed-request"),
        ("GET /health/live HTTP/1.1\r\nHost: a:99999\r\n\r\n", 400, "malformed-request"),
        ("GET http://a@b/health/live HTTP/1.1\r\nHost: b\r\n\r\n", 400, "malformed-request"),
        ("GET /health/live%2 HTTP/1.1\r\nHost: a\r\n\r\n", 400, "malformed-request"),
        ("GET /health/live HTTP/1.1\r\nHost: a\r\nExpect: wonders\r\n\r\n", 417, "expectation-failed"),
        (
            "POST /v1/models/digit-recognition HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            501,
            "unsupported-transfer-coding",
        ),
    ];
    for (request, status, slug) in cases {
        let answer = to_end(connect(&stack.base, request.as_bytes()).await).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request}{answer}");
        assert!(answer.contains(&format!("/problems/{slug}")), "{request}{answer}");
    }
    let old = to_end(connect(&stack.base, b"GET /health/live HTTP/1.0\r\n\r\n").await).await;
    assert!(old.contains(" 200 "), "HTTP/1.0 needs no Host: {old}");
}

#[tokio::test]
async fn a_path_may_be_percent_encoded() {
    let stack = Stack::start().await;
    let image = &operations()[0];
    let form = Form::upload(&image.bytes);
    let request = stack.request("POST", "/v1/models/digit%2Drecognitio%6e");
    let answer = send(form.send_with(request)).await;
    assert_eq!(answer.predictions()[0].0, image.label);
}

#[tokio::test]
async fn a_connection_that_breaks_in_the_middle_of_a_body_leaves_no_job() {
    let stack = Stack::with().workers(0).start().await;
    let image = &operations()[0];
    let form = Form::upload(&image.bytes);
    let headers = [("Content-Type", &*form.content_type()), ("Content-Length", "12000")];
    let head = head("POST", "/v1/models/digit-recognition", &stack.key, &headers);
    let cut = [head.as_slice(), &form.unended_body()[..120]].concat();
    let answer = raw(&stack.base, &cut).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{answer}");
    let n_jobs: i64 =
        sqlx::query_scalar("select count(*) from jobs").fetch_one(&stack.db).await.expect("a count");
    assert_eq!(n_jobs, 0);
}

#[tokio::test]
async fn a_client_that_disconnects_while_its_job_is_submitted_leaves_no_queued_job() {
    let mut stack = Stack::with().workers(0).start().await;
    let mut held = Seam::Submit.hold(&stack.db).await;
    let image = &operations()[0];
    let form = Form::upload(&image.bytes);
    let length = form.body().len().to_string();
    let headers = [("Content-Type", &*form.content_type()), ("Content-Length", &*length)];
    let path = format!("/v1/models/{}", image.operation);
    let request = [head("POST", &path, &stack.key, &headers), form.body()].concat();
    let connection = connect(&stack.base, &request).await;
    held.holds(1).await;
    drop(connection);
    until("the api notices", async || {
        stack.api.log().iter().any(|line| line.contains("client disconnected")).then_some(())
    })
    .await;
    held.release().await;
    // A stopping api finishes what it has begun.
    stack.api.signal(Signal::TERM);
    assert!(stack.api.ended().await.success());
    let state: String =
        sqlx::query_scalar("select state from jobs").fetch_one(&stack.db).await.expect("one job");
    assert_eq!(state, "cancelled");
}

const NOT_OFFERED: &str = "There is no such path. Of OpenAI's API, this server has /v1/audio/transcriptions, \
    /v1/audio/translations, /v1/models and /v1/realtime. /openapi.json lists all paths.";

#[tokio::test]
async fn other_methods_and_paths_are_answered_with_problems() {
    let stack = Stack::with().workers(0).start().await;
    for image in operations() {
        let path = format!("/v1/models/{}", image.operation);
        for method in ["GET", "PUT", "DELETE", "PATCH"] {
            let request = stack.request(method, &path);
            let answer = send(request.try_clone().expect("no body")).await;
            assert_eq!(answer.header("allow"), "POST", "{method} {path}");
            stack.refused(request, 405).await;
        }
        stack.refused(stack.request("POST", &format!("{path}/")), 404).await;
    }
    for path in
        ["/v1", "/v1/audio", "/v1/models/cat-recognition", "/v2/models/digit-recognition", "/%ff", "//"]
    {
        stack.refused(stack.request("POST", path), 404).await;
    }
    stack.refused(stack.request("GET", "/v1/jobs/not-a-uuid"), 404).await;
    for (path, detail) in [
        (
            "/v1/models/digits-recogniton",
            "There is no such path; did you mean /v1/models/digit-recognition? /openapi.json lists all paths.",
        ),
        ("/nowhere", "There is no such path. /openapi.json lists all paths."),
        (
            "/v1/transcriptions",
            "There is no such path; did you mean /v1/audio/transcriptions? /openapi.json lists all paths.",
        ),
        ("/v1/speech", "There is no such path. /openapi.json lists all paths."),
        (
            "/v1/audio/transcription",
            "There is no such path; did you mean /v1/audio/transcriptions? /openapi.json lists all paths.",
        ),
        ("/v1/audio/speech", NOT_OFFERED),
        ("/v1/chat/completions", NOT_OFFERED),
        ("/v1/responses", NOT_OFFERED),
        ("/v1/embeddings", NOT_OFFERED),
        ("/v1/key", "There is no such path. /openapi.json lists all paths."),
        (
            "/v1/admin/key",
            "There is no such path; did you mean /v1/admin/keys? /openapi.json lists all paths.",
        ),
    ] {
        assert_eq!(stack.refused(stack.request("POST", path), 404).await.json["detail"], detail);
    }
    stack.refused(stack.request("GET", "/problems/no-such-problem"), 404).await;
}

#[tokio::test]
async fn a_request_that_accepts_no_available_type_is_refused() {
    let stack = Stack::start().await;
    let image = &operations()[0];
    let request = |accept| stack.post(image.operation, &Form::upload(&image.bytes)).header("accept", accept);
    stack.refused(request("text/html, image/*"), 406).await;
    for accept in ["*/*", "application/*", "application/json;q=0.1, text/html"] {
        send(request(accept)).await.predictions();
    }
    stack.jobs_are(3, "succeeded").await;
    let written = stack.request("POST", "/v1/models/handwriting-generator").json(&json!({"text": "ਸਤਿ"}));
    let speech = stack.post("speech-recognition", &Form::upload(&recording("pa-two-sentences.wav").bytes));
    for (request, accept, field) in
        [(written, "image/png", "`with-image`"), (speech, "text/vtt", "`with-timestamps`")]
    {
        let refused = stack.refused(request.header("accept", accept), 406).await;
        assert!(
            refused.json["detail"].as_str().is_some_and(|detail| detail.contains(field)),
            "{}",
            refused.json
        );
    }
}

#[tokio::test]
async fn every_answer_has_its_request_id() {
    let stack = Stack::start().await;
    let image = &operations()[0];
    let own =
        stack.post(image.operation, &Form::upload(&image.bytes)).header("x-request-id", "caller-chose-7");
    let answer = send(own).await;
    answer.predictions();
    assert_eq!(answer.header("x-request-id"), "caller-chose-7");
    until("the worker's log names the request", async || {
        stack.workers[0]
            .log()
            .iter()
            .any(|line| line.contains("\"request_id\":\"caller-chose-7\""))
            .then_some(())
    })
    .await;

    let (one, two) = (stack.get("/health/live").await, stack.get("/health/live").await);
    assert!(!one.header("x-request-id").is_empty());
    assert_ne!(one.header("x-request-id"), two.header("x-request-id"));
}

#[tokio::test]
async fn the_trace_context_is_stored_and_server_timing_is_sent() {
    const TRACE: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let stack = Stack::start().await;
    let image = &operations()[0];
    let answer =
        send(stack.post(image.operation, &Form::upload(&image.bytes)).header("traceparent", TRACE)).await;
    answer.predictions();
    let kept: Option<String> =
        sqlx::query_scalar("select traceparent from jobs").fetch_one(&stack.db).await.expect("one job");
    assert_eq!(kept.as_deref(), Some(TRACE));
    let timing = answer.header("server-timing");
    for name in ["decode", "infer"] {
        let entry = timing.split(',').map(str::trim).find(|e| e.starts_with(name));
        let duration = entry.and_then(|e| e.split_once("dur=")).and_then(|(_, ms)| ms.parse::<f64>().ok());
        assert!(duration.is_some_and(|ms| ms > 0.0), "{name} in {timing:?}");
    }
}
