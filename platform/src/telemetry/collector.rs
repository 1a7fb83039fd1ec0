//! Sends traces and metrics to an OpenTelemetry collector (OTLP over HTTP).

use std::{
    env,
    fmt::Display,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use hyper::http::{self, HeaderMap, HeaderName, HeaderValue, Method, header::CONTENT_TYPE};
use opentelemetry::KeyValue;
use opentelemetry_http::{HttpClient, HttpError};
use opentelemetry_otlp::{OTEL_EXPORTER_OTLP_HEADERS, OTEL_EXPORTER_OTLP_METRICS_HEADERS};
use opentelemetry_sdk::Resource;
use percent_encoding::percent_decode_str;
use tokio::runtime::Handle;
use uuid::Uuid;

use crate::{
    host,
    http_client::{self, Limits},
};

/// How long one export may take.
pub(super) const EXPORT_LIMIT: Duration = Duration::from_secs(10);
/// The limits of the client that exports.
pub const LIMITS: Limits =
    Limits { connect: Duration::from_secs(5), stall: EXPORT_LIMIT, whole: Some(EXPORT_LIMIT) };

/// How long a process that ends waits for its last export.
pub(crate) const LAST_EXPORT_LIMIT: Duration = Duration::from_secs(3);

/// The most bytes of a collector's answer, which says at most what it refuses.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// How often metrics are sent if `OTEL_METRIC_EXPORT_INTERVAL` does not say.
const METRICS_INTERVAL: Duration = Duration::from_secs(60);

/// Where the metrics of this process are sent.
static METRICS: OnceLock<Metrics> = OnceLock::new();

/// Where traces and metrics are sent.
#[derive(Debug)]
pub struct Collector {
    /// The address of the collector, such as `http://127.0.0.1:4318`.
    pub endpoint: String,
    /// The name of the service, such as `akhar-api`.
    pub service: &'static str,
    /// The version of the program.
    pub version: &'static str,
    /// The client that sends them, with [`LIMITS`].
    pub client: reqwest::Client,
    /// The runtime that the client runs on.
    pub runtime: Handle,
}

/// Why nothing can be exported.
#[derive(Debug, thiserror::Error)]
#[error(
    "OTEL_EXPORTER_OTLP_ENDPOINT is {endpoint:?}, expected an address such as http://127.0.0.1:4318: {reason}"
)]
pub struct CollectorError {
    endpoint: String,
    reason: String,
}

impl Collector {
    /// The address for these signals, `traces` or `metrics`.
    pub(super) fn url(&self, signals: &str) -> Result<http::Uri, CollectorError> {
        let is_http = self.endpoint.starts_with("http://") || self.endpoint.starts_with("https://");
        let url = format!("{}/v1/{signals}", self.endpoint.trim_end_matches('/')).parse().ok();
        url.filter(|_| is_http).ok_or_else(|| self.error(&"it is not a URL with the scheme http or https"))
    }

    pub(super) fn error(&self, reason: &dyn Display) -> CollectorError {
        CollectorError { endpoint: self.endpoint.clone(), reason: reason.to_string() }
    }

    pub(super) fn client(&self, signals: &'static str) -> Client {
        let (http, runtime) = (self.client.clone(), self.runtime.clone());
        Client { signals, http, runtime, is_failing: Arc::default() }
    }

    /// What traces and metrics say about this process.
    pub(super) fn resource(&self) -> Resource {
        let resource = Resource::builder().with_service_name(self.service).with_attributes([
            KeyValue::new("service.version", self.version),
            KeyValue::new("service.instance.id", Uuid::now_v7().to_string()),
            KeyValue::new("host.name", host::name()),
            KeyValue::new("process.pid", i64::from(std::process::id())),
        ]);
        resource.build()
    }

    /// From now on [`metrics`] are sent, unless `OTEL_METRICS_EXPORTER` is `none`.
    pub(super) fn send_metrics(&self, resource: Resource) -> Result<(), CollectorError> {
        if env::var("OTEL_METRICS_EXPORTER").is_ok_and(|exporter| exporter.trim() == "none") {
            return Ok(());
        }
        let interval = env::var("OTEL_METRIC_EXPORT_INTERVAL").ok().and_then(|ms| ms.trim().parse().ok());
        let interval = interval.filter(|ms| *ms > 0).map_or(METRICS_INTERVAL, Duration::from_millis);
        let headers =
            env::var(OTEL_EXPORTER_OTLP_METRICS_HEADERS).or_else(|_| env::var(OTEL_EXPORTER_OTLP_HEADERS));
        let headers = headers.map(|text| headers_of(&text)).unwrap_or_default();
        let metrics = Metrics {
            client: self.client("metrics"),
            url: self.url("metrics")?,
            headers,
            resource,
            interval,
        };
        // It was not set before: logging starts once.
        let _ = METRICS.set(metrics);
        Ok(())
    }
}

/// Those of `name=value,name=value`, with values that are percent-encoded.
fn headers_of(text: &str) -> HeaderMap {
    let header = |header: &str| {
        let (name, value) = header.split_once('=')?;
        let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
        Some((name.trim().parse::<HeaderName>().ok()?, value.parse::<HeaderValue>().ok()?))
    };
    text.split(',').filter_map(header).collect()
}

/// Sends the metrics of this process.
#[derive(Debug)]
pub(crate) struct Metrics {
    client: Client,
    url: http::Uri,
    headers: HeaderMap,
    /// What they say about this process.
    pub(crate) resource: Resource,
    /// How often they are sent.
    pub(crate) interval: Duration,
}

/// What sends the metrics of this process, if there is a collector that gets them.
pub(crate) fn metrics() -> Option<&'static Metrics> {
    METRICS.get()
}

impl Metrics {
    /// Sends a message. If the collector does not take it, the log says so once.
    pub(crate) async fn send(&self, message: Vec<u8>) {
        let mut request = http::Request::new(Bytes::from(message));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.url.clone();
        *request.headers_mut() = self.headers.clone();
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/x-protobuf"));
        // The next message has the same totals.
        let _ = self.client.post(request).await;
    }
}

/// Sends requests, and says once if they fail.
#[derive(Debug, Clone)]
pub(super) struct Client {
    signals: &'static str,
    http: reqwest::Client,
    runtime: Handle,
    /// Whether the last export failed, so that a collector that is away for long makes one line.
    is_failing: Arc<AtomicBool>,
}

impl Client {
    async fn post(&self, request: http::Request<Bytes>) -> Result<http::Response<Bytes>, HttpError> {
        let signals = self.signals;
        let sent = send(&self.http, request).await;
        let has_failed = sent.as_ref().map_or(true, |response| !response.status().is_success());
        if self.is_failing.swap(has_failed, Ordering::Relaxed) != has_failed {
            match &sent {
                Ok(response) if has_failed => {
                    tracing::warn!(status = response.status().as_u16(), "the collector refuses {signals}");
                }
                Ok(_) => tracing::info!("the collector accepts {signals} again"),
                Err(error) => tracing::warn!(%error, "cannot send {signals} to the collector"),
            }
        }
        sent
    }
}

/// The exporter of traces has a thread of its own, on which no runtime is entered.
#[async_trait::async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: http::Request<Bytes>) -> Result<http::Response<Bytes>, HttpError> {
        let client = self.clone();
        self.runtime.spawn(async move { client.post(request).await }).await?
    }
}

async fn send(
    client: &reqwest::Client,
    request: http::Request<Bytes>,
) -> Result<http::Response<Bytes>, HttpError> {
    let response = client.execute(reqwest::Request::try_from(request)?).await?;
    let mut answer = http::Response::builder().status(response.status());
    if let Some(headers) = answer.headers_mut() {
        headers.clone_from(response.headers());
    }
    Ok(answer.body(http_client::body(response, MAX_ANSWER_BYTES).await?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_endpoint_that_is_no_url_is_an_error_that_shows_it() {
        for endpoint in ["", "127.0.0.1:4318", "ftp://x", "http://a b"] {
            let collector = Collector {
                endpoint: endpoint.to_owned(),
                service: "test",
                version: "0",
                client: http_client::builder(LIMITS).unwrap().build().unwrap(),
                runtime: Handle::current(),
            };
            let error = collector.url("traces").unwrap_err();
            assert!(error.to_string().contains(&format!("{endpoint:?}, expected")), "{error}");
        }
    }

    #[test]
    fn headers_are_read_as_the_exporter_of_traces_reads_them() {
        let headers = headers_of("authorization=Bearer%20a%3D1, x-scope = akhar,,nonsense,bad name=1");
        let found: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        assert_eq!(found, [("authorization", "Bearer a=1"), ("x-scope", "akhar")]);
    }
}
