//! Answers that are compressed, for clients that accept it.

use std::io::Read as _;

use akhar_tests::{
    Answer, Form, Stack,
    http::{connect, send},
    speech::recording,
};
use flate2::read::GzDecoder;
use reqwest::RequestBuilder;
use serde_json::json;
use tokio::io::AsyncReadExt as _;

use crate::operations;

/// A text of handwriting, whose strokes are long.
fn strokes(stack: &Stack) -> RequestBuilder {
    stack
        .request("POST", "/v1/models/handwriting-generator")
        .json(&json!({"text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", "seed": 7}))
}

/// The answer to a client that accepts these codings.
async fn accepting(request: RequestBuilder, codings: &str) -> Answer {
    send(request.header("accept-encoding", codings)).await
}

/// The text of an answer, without its coding.
fn decoded(answer: &Answer) -> String {
    let mut text = String::new();
    let read = match answer.header("content-encoding") {
        "gzip" => GzDecoder::new(&*answer.body).read_to_string(&mut text),
        "br" => brotli::Decompressor::new(&*answer.body, 4096).read_to_string(&mut text),
        "" => return answer.text(),
        other => panic!("the coding {other}"),
    };
    read.expect("it is whole");
    text
}

#[tokio::test]
async fn a_long_text_is_compressed_as_the_client_asks() {
    let stack = Stack::start().await;
    let plain = send(strokes(&stack)).await;
    assert_eq!((plain.header("content-encoding"), plain.header("vary")), ("", "accept-encoding"));
    for (codings, coding) in
        [("gzip", "gzip"), ("br", "br"), ("gzip, deflate, br", "br"), ("br;q=0, *", "gzip")]
    {
        let answer = accepting(strokes(&stack), codings).await;
        assert_eq!((answer.header("content-encoding"), answer.header("vary")), (coding, "accept-encoding"));
        assert_eq!(answer.header("content-length"), answer.body.len().to_string());
        assert_eq!(answer.header("content-type"), "application/json");
        assert!(
            answer.body.len() * 2 < plain.body.len(),
            "{} of {} bytes",
            answer.body.len(),
            plain.body.len()
        );
        assert_eq!(decoded(&answer), plain.text());
        println!("strokes: {} bytes, with {coding} {}", plain.body.len(), answer.body.len());
    }
    for codings in ["identity", "deflate", "gzip;q=0"] {
        assert_eq!(accepting(strokes(&stack), codings).await.body, plain.body, "{codings}");
    }
    let job = format!("/v1/jobs/{}/result", plain.header("akhar-job"));
    let result = accepting(stack.request("GET", &job), "gzip").await;
    assert_eq!((result.header("content-encoding"), decoded(&result)), ("gzip", plain.text()));
}

#[tokio::test]
async fn pages_and_long_problems_are_compressed_too() {
    let stack = Stack::with().workers(0).start().await;
    let page = send(stack.anonymous("GET", "/")).await.text();
    let (before, _) = page.split_once("/base.css\"").expect("a style");
    let asset = format!("/{}/base.css", before.rsplit("\"/").next().expect("a path"));
    for path in ["/", "/docs", "/openapi.json", "/problems", asset.as_str()] {
        let plain = send(stack.anonymous("GET", path)).await;
        assert!(plain.header("vary").contains("accept-encoding") && plain.status == 200, "{path}: {plain:?}");
        for coding in ["gzip", "br"] {
            let answer = accepting(stack.anonymous("GET", path), coding).await;
            assert_eq!((answer.status, answer.header("content-encoding")), (200, coding), "{path}");
            assert_eq!(decoded(&answer), plain.text(), "{path}");
            println!("{path}: {} bytes, with {coding} {}", plain.body.len(), answer.body.len());
        }
    }
    let wrong = json!((0..40).map(|n| (format!("field-{n}"), json!(n))).collect::<serde_json::Map<_, _>>());
    let refused = stack.request("POST", "/v1/models/handwriting-generator").json(&wrong);
    let refused = accepting(refused, "gzip").await;
    assert_eq!((refused.status, refused.header("content-encoding")), (422, "gzip"));
    assert_eq!(refused.header("content-type"), "application/problem+json");
    assert!(decoded(&refused).contains("field-39"));
}

#[tokio::test]
async fn short_answers_pictures_sound_and_events_are_not_compressed() {
    let stack = Stack::start().await;
    let image = &operations()[0];
    let digit = accepting(stack.post(image.operation, &Form::upload(&image.bytes)), "gzip, br").await;
    assert_eq!((digit.header("content-encoding"), digit.header("vary")), ("", ""));
    digit.predictions();
    let picture = stack.request("POST", "/v1/models/handwriting-generator");
    let picture = picture.json(&json!({"text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", "with-image": true}));
    for accept in ["image/png", "image/svg+xml"] {
        let request = picture.try_clone().expect("a request").header("accept", accept);
        let answer = accepting(request, "gzip, br").await;
        assert_eq!((answer.status, answer.header("content-encoding")), (200, ""), "{accept}");
    }
    let page = send(stack.anonymous("GET", "/")).await.text();
    let version = page.split("assets/").nth(1).and_then(|rest| rest.split('/').next()).expect("a version");
    for file in ["sample.mp3", "anek-latin.woff2"] {
        let answer =
            accepting(stack.anonymous("GET", &format!("/assets/{version}/{file}")), "gzip, br").await;
        assert_eq!((answer.status, answer.header("content-encoding")), (200, ""), "{file}");
    }
    let events = format!("/v1/jobs/{}/events", digit.header("akhar-job"));
    let events = accepting(stack.request("GET", &events), "gzip, br").await;
    assert_eq!((events.header("content-encoding"), events.text().contains("event: done")), ("", true));
    let speech = stack.post("speech-recognition", &Form::upload(&recording("pa-water.mp3").bytes));
    assert_eq!(accepting(speech, "gzip, br").await.header("content-encoding"), "");
}

#[tokio::test]
async fn a_head_request_has_the_headers_and_no_body() {
    let stack = Stack::with().workers(0).start().await;
    let request =
        b"HEAD /openapi.json HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n";
    let mut answer = String::new();
    connect(&stack.base, request).await.read_to_string(&mut answer).await.expect("an answer");
    let whole = accepting(stack.anonymous("GET", "/openapi.json"), "gzip").await;
    assert!(answer.ends_with("\r\n\r\n") && answer.contains("content-encoding: gzip"), "{answer}");
    assert!(answer.contains(&format!("content-length: {}\r\n", whole.body.len())), "{answer}");
}
