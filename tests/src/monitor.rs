//! Reads what operators read: the metrics of a process, its log, and the traces that it sends to a collector.

use std::sync::Arc;

use opentelemetry_proto::tonic::{
    collector::{metrics::v1::ExportMetricsServiceRequest, trace::v1::ExportTraceServiceRequest},
    common::v1::{KeyValue, any_value::Value},
    metrics::v1::Metric,
    trace::v1::Span,
};
use parking_lot::Mutex;
use serde_json::Value as Json;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::{Process, http, until};

/// The address of the metrics of a process that serves them.
pub async fn metrics_url(process: &Process) -> String {
    until("the log says where the metrics are", async || {
        let line = process.log().into_iter().find(|line| line.contains("serving metrics on "))?;
        let (_, rest) = line.split_once("serving metrics on ")?;
        Some(rest.split(['"', ' ']).next().unwrap_or(rest).to_owned())
    })
    .await
}

/// The text of the metrics of a process that serves them.
pub async fn metrics(process: &Process) -> String {
    let answer = http::send(http::client().get(metrics_url(process).await)).await;
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, "text/plain; version=0.0.4; charset=utf-8")
    );
    String::from_utf8(answer.body.to_vec()).expect("UTF-8")
}

/// The sum of all series of a metric whose labels contain all of these texts. `None` if there is none.
pub fn value(metrics: &str, name: &str, labels: &[&str]) -> Option<f64> {
    let values = metrics.lines().filter_map(|line| {
        let rest = line.strip_prefix(name)?;
        let (found, value) = rest.rsplit_once(' ')?;
        let is_it = found.is_empty() || found.starts_with('{');
        (is_it && labels.iter().all(|label| found.contains(label))).then(|| value.parse::<f64>().ok())?
    });
    values.fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
}

/// The lines of a log in JSON that have this message.
pub fn lines(process: &Process, message: &str) -> Vec<Json> {
    let lines = process.log().into_iter().filter_map(|line| serde_json::from_str::<Json>(&line).ok());
    lines.filter(|line| line["message"] == message).collect()
}

/// The path and the body of each request that a collector got.
type Received = Arc<Mutex<Vec<(String, Vec<u8>)>>>;

/// A collector of traces and metrics (OTLP over HTTP). It stops when the value is dropped.
#[derive(Debug)]
pub struct Collector {
    /// Its address, such as `http://127.0.0.1:41234`.
    pub url: String,
    received: Received,
    server: tokio::task::AbortHandle,
}

impl Collector {
    /// Starts a collector that accepts everything.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let received = Received::default();
        let kept = received.clone();
        let server = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(receive(stream, kept.clone()));
            }
        });
        Self { url, received, server: server.abort_handle() }
    }

    /// The bodies of all requests so far.
    pub fn bodies(&self) -> Vec<Vec<u8>> {
        self.received.lock().iter().map(|(_, body)| body.clone()).collect()
    }

    /// The requests with this path, decoded.
    fn requests<T: prost::Message + Default>(&self, path: &str) -> Vec<T> {
        let received = self.received.lock();
        let bodies = received.iter().filter(|(of, _)| of == path).map(|(_, body)| body.as_slice());
        bodies.map(|body| T::decode(body).expect("OTLP")).collect()
    }

    /// The metrics that each message of this service has, with the attributes of its process, the oldest first.
    pub fn metrics(&self, service: &str) -> Vec<(Vec<KeyValue>, Vec<Metric>)> {
        let requests = self.requests::<ExportMetricsServiceRequest>("/v1/metrics").into_iter();
        let all = requests.flat_map(|request| request.resource_metrics).map(|of_resource| {
            let attributes = of_resource.resource.map(|resource| resource.attributes).unwrap_or_default();
            (attributes, of_resource.scope_metrics.into_iter().flat_map(|scope| scope.metrics).collect())
        });
        all.filter(|(attributes, _)| text(attributes, "service.name") == service).collect()
    }

    /// The spans received so far, each with the name of its service.
    pub fn spans(&self) -> Vec<(String, Span)> {
        let spans = self.spans_of_resources().into_iter();
        spans.map(|(resource, span)| (text(&resource, "service.name"), span)).collect()
    }

    /// The spans received so far, each with the attributes of its process.
    pub fn spans_of_resources(&self) -> Vec<(Vec<KeyValue>, Span)> {
        let mut spans = Vec::new();
        for request in self.requests::<ExportTraceServiceRequest>("/v1/traces") {
            for resource in request.resource_spans {
                let attributes = resource.resource.map(|r| r.attributes).unwrap_or_default();
                let of_scopes = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
                spans.extend(of_scopes.map(|span| (attributes.clone(), span)));
            }
        }
        spans
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// The value of an attribute that is a text. Empty if there is none.
pub fn text(attributes: &[KeyValue], name: &str) -> String {
    let found = attributes.iter().find(|attribute| attribute.key == name);
    match found.and_then(|attribute| attribute.value.clone()).and_then(|value| value.value) {
        Some(Value::StringValue(text)) => text,
        _ => String::new(),
    }
}

/// The value of an attribute that is a number. -1 if there is none.
pub fn number(attributes: &[KeyValue], name: &str) -> i64 {
    let found = attributes.iter().find(|attribute| attribute.key == name);
    match found.and_then(|attribute| attribute.value.clone()).and_then(|value| value.value) {
        Some(Value::IntValue(number)) => number,
        _ => -1,
    }
}

/// Answers requests on one connection until it is closed.
async fn receive(stream: TcpStream, received: Received) -> Option<()> {
    let mut stream = BufReader::new(stream);
    loop {
        let (mut n_bytes, mut line) = (0, String::new());
        let mut path = String::new();
        while path.is_empty() || !line.trim().is_empty() {
            line.clear();
            if stream.read_line(&mut line).await.ok()? == 0 {
                return None;
            }
            if path.is_empty() {
                let request = line.strip_prefix("POST ").expect("a message");
                path = request.split(' ').next().unwrap_or_default().to_owned();
            }
            if let Some(length) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                n_bytes = length.trim().parse().ok()?;
            }
        }
        let mut body = vec![0; n_bytes];
        stream.read_exact(&mut body).await.ok()?;
        received.lock().push((path, body));
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await.ok()?;
    }
}
