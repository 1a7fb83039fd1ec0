//! Metrics that are sent to a collector are those of `GET /metrics`.

use std::collections::BTreeMap;

use akhar_platform::metrics::{Kind, TABLE};
use akhar_tests::{
    Form, Process, Stack,
    http::send,
    monitor::{Collector, lines, metrics, text},
    until,
};
use opentelemetry_proto::tonic::{
    common::v1::KeyValue,
    metrics::v1::{
        AggregationTemporality, HistogramDataPoint, Metric, NumberDataPoint, metric::Data,
        number_data_point::Value,
    },
};
use rustix::process::Signal;

use super::operations;

const TRACE: [u8; 16] = 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes();

/// The series of counters and histograms that a process serves, by names and labels.
async fn served(process: &Process) -> BTreeMap<String, String> {
    let text = metrics(process).await;
    let series = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let (series, value) = line.rsplit_once(' ').expect("a value");
        (series.to_owned(), value.to_owned())
    });
    let is_total = |series: &str| {
        let mut rows = TABLE.iter().filter(|row| series.starts_with(row.name));
        rows.any(|row| row.kind != Kind::Gauge && row.name.starts_with("akhar"))
    };
    series.filter(|(series, _)| is_total(series)).collect()
}

/// The same series of a message, as Prometheus names them.
fn sent(metrics: &[Metric]) -> BTreeMap<String, String> {
    let mut series = BTreeMap::new();
    for metric in metrics.iter().filter(|metric| metric.name.starts_with("akhar")) {
        match metric.data.as_ref().expect("data") {
            Data::Sum(sum) => {
                assert!(sum.is_monotonic);
                assert_eq!(sum.aggregation_temporality(), AggregationTemporality::Cumulative);
                for point in &sum.data_points {
                    check_times(point.start_time_unix_nano, point.time_unix_nano);
                    series.insert(name(&metric.name, &point.attributes, None), number(point).to_string());
                }
            }
            Data::Histogram(histogram) => {
                assert_eq!(histogram.aggregation_temporality(), AggregationTemporality::Cumulative);
                for point in &histogram.data_points {
                    check_times(point.start_time_unix_nano, point.time_unix_nano);
                    series.extend(distribution(&metric.name, point));
                }
            }
            _ => (),
        }
    }
    series
}

fn check_times(start: u64, time: u64) {
    assert!(0 < start && start < time, "{start}, {time}");
}

fn number(point: &NumberDataPoint) -> f64 {
    match point.value {
        Some(Value::AsDouble(number)) => number,
        ref other => panic!("{other:?}"),
    }
}

fn distribution(metric: &str, point: &HistogramDataPoint) -> Vec<(String, String)> {
    let bounds = point.explicit_bounds.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
    let mut n = 0;
    let mut series: Vec<(String, String)> = bounds
        .zip(&point.bucket_counts)
        .map(|(bound, count)| {
            n += count;
            (name(&format!("{metric}_bucket"), &point.attributes, Some(&bound)), n.to_string())
        })
        .collect();
    assert_eq!(n, point.count);
    series.push((
        name(&format!("{metric}_sum"), &point.attributes, None),
        point.sum.expect("a sum").to_string(),
    ));
    series.push((name(&format!("{metric}_count"), &point.attributes, None), n.to_string()));
    series
}

fn name(metric: &str, attributes: &[KeyValue], bound: Option<&str>) -> String {
    let labels = attributes.iter().map(|label| format!("{}=\"{}\"", label.key, text(attributes, &label.key)));
    let labels: Vec<String> = labels.chain(bound.map(|bound| format!("le=\"{bound}\""))).collect();
    if labels.is_empty() { metric.to_owned() } else { format!("{metric}{{{}}}", labels.join(",")) }
}

/// Has one digit recognised, as a part of a trace.
async fn recognise(stack: &Stack) {
    let image = &operations()[0];
    let request = stack.post(image.operation, &Form::upload(&image.bytes));
    let traceparent = format!("00-{:032x}-00f067aa0ba902b7-01", u128::from_be_bytes(TRACE));
    assert_eq!(send(request.header("traceparent", traceparent)).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_gets_the_metrics_that_prometheus_reads() {
    let collector = Collector::start().await;
    let stack = Stack::with()
        .with_metrics()
        .set_text("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)
        .set("OTEL_METRIC_EXPORT_INTERVAL", 50)
        .set("OTEL_BSP_SCHEDULE_DELAY", 50)
        .start()
        .await;
    recognise(&stack).await;
    for (service, process, duration) in [
        ("akhar-api", &stack.api, "akhar_http_request_duration_seconds"),
        ("akhar-worker", &stack.workers[0], "akhar_job_run_seconds"),
    ] {
        let (resource, message) = until("the collector has what Prometheus reads", async || {
            let expected = served(process).await;
            let (resource, message) = collector.metrics(service).pop()?;
            expected.keys().find(|series| series.starts_with(duration))?;
            (sent(&message) == expected).then_some((resource, message))
        })
        .await;
        let of_spans = until("spans of the process arrive", async || {
            let spans = collector.spans_of_resources();
            let resources = spans.into_iter().map(|(resource, _)| resource);
            resources.into_iter().find(|resource| text(resource, "service.name") == service)
        })
        .await;
        let sorted = |mut attributes: Vec<KeyValue>| {
            attributes.sort_by(|a, b| a.key.cmp(&b.key));
            attributes
        };
        assert_eq!(
            sorted(resource),
            sorted(of_spans),
            "metrics and traces name their process in the same way"
        );
        for metric in &message {
            let row = TABLE.iter().find(|row| row.name == metric.name).expect("a row of the table");
            assert_eq!(metric.description, row.help.trim());
            assert_eq!(matches!(metric.data, Some(Data::Gauge(_))), row.kind == Kind::Gauge, "{}", row.name);
        }
        let measured = message.iter().find(|metric| metric.name == duration).expect("durations");
        let memory = message.iter().find(|metric| metric.name == "process_resident_memory_bytes");
        assert_eq!((&*measured.unit, memory.map(|metric| &*metric.unit)), ("s", Some("By")));
        let Some(Data::Histogram(histogram)) = &measured.data else { panic!("{measured:?}") };
        let exemplars = histogram.data_points.iter().flat_map(|point| &point.exemplars);
        let of_request: Vec<_> = exemplars.filter(|exemplar| exemplar.trace_id == TRACE).collect();
        assert_eq!(of_request.len(), 1, "{histogram:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_values_are_sent_when_a_process_stops() {
    let collector = Collector::start().await;
    let mut stack = Stack::with().set_text("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url).start().await;
    recognise(&stack).await;
    stack.workers[0].signal(Signal::TERM);
    stack.api.signal(Signal::TERM);
    assert!(stack.workers[0].ended().await.success() && stack.api.ended().await.success());
    for (service, name) in
        [("akhar-api", "akhar_jobs_submitted_total"), ("akhar-worker", "akhar_attempts_total")]
    {
        let (_, last) = collector.metrics(service).pop().expect("a message");
        let counted: Vec<String> = sent(&last)
            .into_iter()
            .filter(|(series, n)| series.starts_with(name) && n != "0")
            .map(|(_, n)| n)
            .collect();
        assert_eq!(counted, ["1"], "{service}: {last:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_that_no_collector_takes_are_one_line_of_the_log() {
    let mut stack = Stack::with()
        .workers(0)
        .set_text("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
        .set_text("AKHAR_LOG_FORMAT", "json")
        .start()
        .await;
    until("the log says that the collector is away", async || {
        lines(&stack.api, "cannot send metrics to the collector").pop()
    })
    .await;
    // The last values are not sent either.
    stack.api.signal(Signal::TERM);
    assert!(stack.api.ended().await.success());
    assert_eq!(lines(&stack.api, "cannot send metrics to the collector").len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_are_not_sent_if_the_standard_variable_says_so() {
    let collector = Collector::start().await;
    let mut stack = Stack::with()
        .set_text("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url)
        .set_text("OTEL_METRICS_EXPORTER", "none")
        .start()
        .await;
    recognise(&stack).await;
    stack.api.signal(Signal::TERM);
    assert!(stack.api.ended().await.success());
    assert!(!collector.spans().is_empty());
    assert!(collector.metrics("akhar-api").is_empty());
}
