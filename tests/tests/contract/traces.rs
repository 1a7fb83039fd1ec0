//! Traces lead from a request through the queue to the model, and name their parts as the conventions of OpenTelemetry do.

use akhar_tests::{
    Form, Stack,
    http::send,
    monitor::{Collector, number, text},
    until,
    webhooks::Receiver,
};
use opentelemetry_proto::tonic::{
    common::v1::KeyValue,
    trace::v1::{Span, span::SpanKind, status::StatusCode},
};

use super::operations;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// A stack whose processes send their spans soon.
async fn traced(collector: &Collector, n_workers: usize) -> Stack {
    Stack::with()
        .workers(n_workers)
        .set_text("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)
        .set("OTEL_BSP_SCHEDULE_DELAY", 50)
        .set_text("AKHAR_WEBHOOK_ALLOW", "127.0.0.0/8")
        .start()
        .await
}

/// The span with this name, when it has arrived, and the attributes of its process.
async fn span(collector: &Collector, name: &str) -> (Vec<KeyValue>, Span) {
    let mut found = until(name, async || {
        let spans = collector.spans_of_resources();
        let found: Vec<_> = spans.into_iter().filter(|(_, span)| span.name == name).collect();
        (!found.is_empty()).then_some(found)
    })
    .await;
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn texts<const N: usize>(span: &Span, names: [&str; N]) -> [String; N] {
    names.map(|name| text(&span.attributes, name))
}

/// Checks the attributes of a message.
fn check_message(span: &Span, kind: SpanKind, operation: &str, job: &str) {
    assert_eq!(span.kind(), kind);
    let names = [
        "messaging.system",
        "messaging.operation.type",
        "messaging.operation.name",
        "messaging.destination.name",
        "messaging.message.id",
    ];
    assert_eq!(texts(span, names), ["akhar", operation, operation, "quick", job]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_waits_is_one_trace_from_its_caller_to_the_model() {
    let collector = Collector::start().await;
    let stack = traced(&collector, 1).await;
    let image = &operations()[0];
    let request = stack.post(image.operation, &Form::upload(&image.bytes));
    let answer = send(request.header("traceparent", format!("00-{TRACE}-{PARENT}-01"))).await;
    let job = answer.header("akhar-job");
    let path = format!("/v1/models/{}", image.operation);
    let (api, served) = span(&collector, &format!("POST {path}")).await;
    let (_, sent) = span(&collector, "send quick").await;
    let (worker, processed) = span(&collector, "process quick").await;
    for span in [&served, &sent, &processed] {
        assert_eq!(hex(&span.trace_id), TRACE);
    }
    assert_eq!(hex(&served.parent_span_id), PARENT);
    assert_eq!(sent.parent_span_id, served.span_id);
    assert_eq!(processed.parent_span_id, sent.span_id);
    assert!(processed.links.is_empty());
    for part in ["decode", "infer"] {
        let (_, span) = span(&collector, part).await;
        assert_eq!((span.parent_span_id.as_slice(), span.kind()), (&*processed.span_id, SpanKind::Internal));
    }
    assert_eq!(served.kind(), SpanKind::Server);
    let http = ["http.request.method", "http.route", "url.scheme", "url.path", "error.type", "job"];
    assert_eq!(texts(&served, http), ["POST", &path, "http", &path, "", job]);
    assert_eq!(number(&served.attributes, "http.response.status_code"), 200);
    check_message(&sent, SpanKind::Producer, "send", job);
    check_message(&processed, SpanKind::Consumer, "process", job);
    assert_eq!(texts(&processed, ["job", "state", "error.type"]), [job, "succeeded", ""]);
    let of_process = |name: &str| [&api, &worker].map(|attributes| text(attributes, name));
    assert_eq!(of_process("service.name"), ["akhar-api", "akhar-worker"]);
    let [of_api, of_worker] = of_process("service.instance.id");
    assert!(!of_api.is_empty() && !of_worker.is_empty() && of_api != of_worker);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_asynchronous_job_and_its_webhook_are_traces_with_links_to_its_submission() {
    let collector = Collector::start().await;
    let stack = traced(&collector, 1).await;
    let secret = stack.keys(&["webhook", &stack.key[3..11]]).await;
    let receiver = Receiver::start(&[&secret]).await;
    let image = &operations()[0];
    let request = stack.post(image.operation, &Form::upload(&image.bytes));
    let webhook = format!("{}/ok", receiver.base);
    let job = send(request.header("prefer", "respond-async").header("akhar-webhook", webhook)).await.job();
    let (_, sent) = span(&collector, "send quick").await;
    let (_, processed) = span(&collector, "process quick").await;
    check_message(&sent, SpanKind::Producer, "send", &job.to_string());
    check_message(&processed, SpanKind::Consumer, "process", &job.to_string());
    let (_, posted) = span(&collector, "POST").await;
    for span in [&processed, &posted] {
        assert!(span.parent_span_id.is_empty() && span.trace_id != sent.trace_id);
        let [link] = span.links.as_slice() else { panic!("{:?}", span.links) };
        assert_eq!((&link.trace_id, &link.span_id), (&sent.trace_id, &sent.span_id));
    }
    assert_eq!(posted.kind(), SpanKind::Client);
    let sent_to = texts(&posted, ["http.request.method", "server.address", "error.type", "job"]);
    assert_eq!(sent_to, ["POST", "127.0.0.1", "", &job.to_string()]);
    assert_eq!(number(&posted.attributes, "http.response.status_code"), 200);
    let stored: Option<String> = stack.row("select traceparent from jobs where id = $1", job).await;
    let expected = format!("00-{}-{}-01", hex(&sent.trace_id), hex(&sent.span_id));
    assert_eq!(stored, Some(expected), "the context of the submission is stored with the job");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_spans_of_a_request_that_fails_say_why() {
    let collector = Collector::start().await;
    let stack = traced(&collector, 0).await;
    stack.akhar(&["queues", "drain", "quick"]).await;
    let image = &operations()[0];
    let refused = until("the queue is closed", async || {
        let answer = send(stack.post(image.operation, &Form::upload(&image.bytes))).await;
        (answer.status == 503).then_some(answer)
    })
    .await;
    let path = format!("POST /v1/models/{}", image.operation);
    let served = until("the span of the refused request arrives", async || {
        let spans = collector.spans().into_iter().map(|(_, span)| span);
        let mut served = spans.filter(|span| span.name == path);
        served.find(|span| text(&span.attributes, "request_id") == refused.header("x-request-id"))
    })
    .await;
    assert_eq!(text(&served.attributes, "error.type"), "503");
    assert_eq!(number(&served.attributes, "http.response.status_code"), 503);
    assert_eq!(served.status.map(|status| status.code()), Some(StatusCode::Error));
    send(stack.anonymous("GET", "/nothing/here")).await;
    let (_, unmatched) = span(&collector, "GET").await;
    assert_eq!(texts(&unmatched, ["http.route", "url.path", "error.type"]), ["", "/nothing/here", ""]);
    assert_eq!(unmatched.status.map(|status| status.code()).unwrap_or_default(), StatusCode::Unset);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
