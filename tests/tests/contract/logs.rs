//! What the log says: one line for each job that ends, and nothing that callers sent or got.

use akhar_tests::{
    Form, Stack,
    http::{connect, send, to_end},
    monitor::{Collector, lines, metrics},
    speech::recordings,
    until,
};
use serde_json::{Value, json};

use super::operations;

#[tokio::test(flavor = "multi_thread")]
async fn each_job_that_ends_has_one_line_with_everything_to_find_it_by() {
    let mut stack = Stack::start().await;
    let image = &operations()[0];
    let request = stack.post(image.operation, &Form::upload(&image.bytes)).header("x-request-id", "good-1");
    send(request).await.predictions();
    let broken = stack.post(image.operation, &Form::upload(b"\x89PNG\r\n\x1a\nbroken"));
    assert_eq!(send(broken.header("x-request-id", "bad-1")).await.status, 422);
    until("the worker has written its lines", async || {
        (lines(&stack.workers[0], "job ended").len() == 2).then_some(())
    })
    .await;
    stack.workers[0].kill().await;
    let waiting = stack.post(image.operation, &Form::upload(&image.bytes)).header("prefer", "respond-async");
    let job = send(waiting.header("x-request-id", "gone-1")).await.job();
    assert_eq!(send(stack.request("DELETE", &format!("/v1/jobs/{job}"))).await.status, 200);

    let ends = until("three jobs have ended", async || {
        let ends = [lines(&stack.workers[0], "job ended"), lines(&stack.api, "job ended")].concat();
        (ends.len() >= 3).then_some(ends)
    })
    .await;
    assert_eq!(ends.len(), 3, "{ends:#?}");
    let account: uuid::Uuid =
        sqlx::query_scalar("select id from accounts").fetch_one(&stack.db).await.expect("one");
    let end = |id: &str| {
        let of = |line: &&Value| line["request_id"] == id || line["span"]["request_id"] == id;
        ends.iter().find(of).unwrap_or_else(|| panic!("no line of {id}: {ends:#?}")).clone()
    };
    for (id, state, code) in [
        ("good-1", "succeeded", Value::Null),
        ("bad-1", "failed", json!("undecodable")),
        ("gone-1", "cancelled", Value::Null),
    ] {
        let line = end(id);
        assert_eq!((&line["state"], &line["code"]), (&json!(state), &code), "{line}");
        assert_eq!(line["account"], account.to_string(), "{line}");
        assert_eq!(line["operation"], image.operation, "{line}");
        assert!(line["wait_ms"].is_i64() && line["run_ms"].is_i64(), "{line}");
        let has = |name: &str| !line[name].is_null() || !line["span"][name].is_null();
        assert!(has("job") && has("attempt"), "{line}");
    }
    let line = end("good-1");
    assert!(line["decode_us"].is_i64() && line["infer_us"].is_i64() && line["model"].is_string(), "{line}");
}

#[tokio::test]
async fn the_line_of_a_refused_request_says_why() {
    let stack = Stack::with().workers(0).start().await;
    let limited = stack.keys(&["create", "--name", "limited", "--rpm", "1"]).await;
    let of_limited = || stack.anonymous("GET", "/v1/jobs").bearer_auth(&limited);
    assert_eq!(send(of_limited()).await.status, 200);
    let image = &operations()[0];
    let broken = |name: &str| stack.post(image.operation, &Form::upload(b"no picture").text(name, "9"));
    let revoked = stack.keys(&["create", "--name", "revoked"]).await;
    stack.keys(&["revoke", &revoked[3..11]]).await;
    let long = "f".repeat(500);
    let own = stack.key[3..11].to_owned();
    let refused = [
        (
            "r-401",
            stack.anonymous("GET", "/v1/jobs").bearer_auth(&revoked),
            "unauthorized",
            "",
            "",
            &revoked[3..11],
        ),
        ("r-404", stack.request("GET", "/v1/no-page"), "not-found", "", "", ""),
        (
            "r-415",
            stack.post(image.operation, &Form::upload(b"no picture")),
            "unsupported-media",
            "file",
            "unsupported_media_type",
            &own,
        ),
        ("r-422", broken("size"), "unsupported-media", "size", "unknown", &own),
        ("r-long", broken(&long), "unsupported-media", &long[..40], "unknown", &own),
        ("r-429", of_limited(), "quota-exceeded", "", "rpm", &limited[3..11]),
    ];
    for (id, request, problem, field, code, caller) in refused {
        send(request.header("x-request-id", id)).await;
        let line = until("the request is logged", async || {
            let lines = lines(&stack.api, "request completed");
            lines.into_iter().find(|line| line["span"]["request_id"] == id)
        })
        .await;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let found = ["problem", "field", "code"].map(|name| text(&line[name]));
        assert_eq!(found, [problem, field, code], "{id}: {line}");
        assert_eq!(text(&line["span"]["caller"]), caller, "{id}: {line}");
        let (status, _, stderr) = stack.run(&["jobs", "show", id]).await;
        assert_eq!(status, Some(1));
        assert!(stderr.contains(&format!("grep \"{id}\"")), "{stderr}");
    }
    let accepted = stack.post(image.operation, &Form::upload(&image.bytes)).header("prefer", "respond-async");
    let job = send(accepted.header("x-request-id", "accepted-1")).await.job();
    assert!(stack.akhar(&["jobs", "show", "accepted-1"]).await.contains(&job.to_string()));
}

#[tokio::test]
async fn what_a_request_without_a_key_adds_to_the_log_is_short() {
    let stack = Stack::with().workers(0).start().await;
    let head = format!("{} /{} HTTP/1.0\r\n\r\n", "X".repeat(2000), "p".repeat(60_000));
    let answer = to_end(connect(&stack.base, head.as_bytes()).await).await;
    assert!(answer.starts_with("HTTP/1.0 404 "), "{answer}");
    let lines = until("the request is logged", async || {
        let lines = lines(&stack.api, "request completed");
        lines.iter().any(|line| line["status"] == 404).then_some(stack.api.log())
    })
    .await;
    assert!(lines.iter().all(|line| line.len() < 1000), "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn neither_logs_nor_traces_nor_metrics_have_what_callers_send_or_get() {
    let collector = Collector::start().await;
    let levels =
        "debug,akhar=trace,akhar_api=trace,akhar_worker=trace,akhar_jobs=trace,akhar_inference=trace";
    let stack = Stack::with()
        .set_text("RUST_LOG", levels)
        .set_text("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)
        .set("OTEL_BSP_SCHEDULE_DELAY", 50)
        .with_metrics()
        .start()
        .await;
    let mut secrets = vec![stack.key.clone(), "ਗੁਪਤਸ਼ਬਦ".to_owned(), "secretword".to_owned()];
    let text = json!({"text": "ਗੁਪਤਸ਼ਬਦ"});
    assert_eq!(send(stack.request("POST", "/v1/models/handwriting-generator").json(&text)).await.status, 200);
    let text = json!({"text": "ਗੁਪਤਸ਼ਬਦ secretword"});
    assert_eq!(send(stack.request("POST", "/v1/models/handwriting-generator").json(&text)).await.status, 422);
    let wrong_key = format!("ak_{}_{}", "X".repeat(8), "s3cr3tpart".repeat(5));
    assert_eq!(send(stack.anonymous("GET", "/v1/jobs").bearer_auth(&wrong_key)).await.status, 401);
    secrets.push("s3cr3tparts3cr3tpart".to_owned());
    let image = &operations()[0];
    let marked = [&image.bytes[..], b"secretword"].concat();
    stack.recognise(image.operation, &marked).await.predictions();
    assert_eq!(stack.recognise(image.operation, b"\x89PNG\r\n\x1a\nsecretword").await.status, 422);
    for recording in recordings().into_iter().take(4) {
        let form = Form::upload_and(&recording.bytes, "lang", recording.lang)
            .text("with-translation", "true")
            .text("with-timestamps", "true");
        let json = send(stack.post("speech-recognition", &form)).await.json();
        for name in ["transcription", "translation"] {
            let said = json[name].as_str().expect("a text");
            // One or two words may be in other texts too.
            secrets
                .extend(said.split_whitespace().collect::<Vec<_>>().windows(3).map(|words| words.join(" ")));
        }
    }
    assert!(secrets.len() > 6, "{secrets:?}");
    let traces = until("the spans of the last job arrive", async || {
        let n_jobs = collector.spans().iter().filter(|(_, span)| span.name.starts_with("process ")).count();
        (n_jobs >= 7).then(|| collector.bodies().concat())
    })
    .await;
    let ends = until("the last job's line is written", async || {
        let ends = lines(&stack.workers[0], "job ended");
        (ends.len() >= 7).then_some(ends)
    })
    .await;
    assert_eq!(ends.len(), 7, "one line for each job");
    assert!(ends.iter().all(|line| line["span"]["request_id"].is_string()), "traces hide the job: {ends:#?}");
    let logs = [stack.api.log(), stack.workers[0].log()].concat().join("\n");
    assert!(logs.contains("\"level\":\"DEBUG\""), "the log is not at the level that was asked for");
    let seen = [
        ("logs", logs),
        ("traces", String::from_utf8_lossy(&traces).into_owned()),
        ("metrics", metrics(&stack.api).await + &metrics(&stack.workers[0]).await),
    ];
    for (place, text) in seen {
        for secret in &secrets {
            let line = text.lines().find(|line| line.contains(secret.as_str()));
            assert!(line.is_none(), "{place} have {secret:?}: {line:?}");
        }
    }
}
