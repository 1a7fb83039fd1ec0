//! One trace leads from a request through the queue to the model.

use akhar_tests::{
    Form, Stack,
    http::send,
    monitor::{Collector, text},
    until,
};

use super::operations;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_leads_from_the_request_to_the_model() {
    let collector = Collector::start().await;
    let stack = Stack::with()
        .set_text("AKHAR_OTLP_ENDPOINT", &collector.url)
        .set("OTEL_BSP_SCHEDULE_DELAY", 50)
        .start()
        .await;
    let image = &operations()[0];
    let request = stack.post(image.operation, &Form::upload(&image.bytes));
    let answer = send(request.header("traceparent", format!("00-{TRACE}-{PARENT}-01"))).await;
    let job = answer.header("akhar-job").to_owned();
    let spans = until("the spans of the request and of its job arrive", async || {
        let spans = collector.spans();
        let has =
            |name: &str| spans.iter().any(|(_, span)| span.name == name && hex(&span.trace_id) == TRACE);
        ["request", "job", "decode", "infer"].iter().all(|name| has(name)).then_some(spans)
    })
    .await;
    let of = |name: &str| {
        let mut found = spans.iter().filter(|(_, span)| span.name == name && hex(&span.trace_id) == TRACE);
        let span = found.next().expect("a span");
        assert!(found.next().is_none(), "two spans {name}");
        span
    };
    let ((api, request), (worker, run)) = (of("request"), of("job"));
    assert_eq!((api.as_str(), worker.as_str()), ("akhar-api", "akhar-worker"));
    assert_eq!(hex(&request.parent_span_id), PARENT);
    assert_eq!(run.parent_span_id, request.span_id, "the job continues the trace of its request");
    for part in ["decode", "infer"] {
        assert_eq!(of(part).1.parent_span_id, run.span_id, "{part}");
    }
    assert_eq!((text(&request.attributes, "job"), text(&run.attributes, "job")), (job.clone(), job));
    assert_eq!(text(&run.attributes, "state"), "succeeded");
    assert_eq!(text(&request.attributes, "http.response.status_code"), "200");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_that_begins_here_is_stored_with_the_job() {
    let collector = Collector::start().await;
    let stack = Stack::with().set_text("AKHAR_OTLP_ENDPOINT", &collector.url).workers(0).start().await;
    let image = &operations()[0];
    let request = stack.post(image.operation, &Form::upload(&image.bytes));
    let job = send(request.header("prefer", "respond-async")).await.job();
    let stored: Option<String> = stack.row("select traceparent from jobs where id = $1", job).await;
    let stored = stored.expect("a trace");
    assert!(stored.starts_with("00-") && stored.ends_with("-01") && stored.len() == 55, "{stored}");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
