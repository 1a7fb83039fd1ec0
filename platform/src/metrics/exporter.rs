//! Exports the metrics: serves `GET /metrics` on a listener of its own, and sends them to a collector.

use std::{convert::Infallible, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{ALLOW, CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::timeout,
};

use crate::telemetry::collector;

use super::{
    measure::{Measure, measure_process},
    metric,
    push::Push,
    table::BUILD_INFO,
    text::text,
};

/// Connections to the listener at a time.
const MAX_CONNECTIONS: usize = 16;
/// The longest time that one connection is open. A server that scrapes opens another.
const CONNECTION_LIMIT: Duration = Duration::from_secs(600);
/// How long a client may take to send its request.
const HEADER_LIMIT: Duration = Duration::from_secs(10);
/// The pause after a failed accept, for example if there are no free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

const FORMAT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// The address for metrics cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot serve metrics on {address}: {source}")]
pub struct MetricsError {
    address: SocketAddr,
    source: std::io::Error,
}

/// The exporter of this process. Without an address and a collector it exports nothing.
#[derive(Debug)]
pub struct Exporter(Option<TcpListener>);

impl Exporter {
    /// Listens on the address, if there is one, and records from now on. `process` and `version` are labels of
    /// `akhar_build_info`.
    pub async fn start(
        address: Option<SocketAddr>,
        process: &str,
        version: &str,
    ) -> Result<Self, MetricsError> {
        let listener = match address {
            None => None,
            Some(address) => {
                let failed = |source| MetricsError { address, source };
                let listener = TcpListener::bind(address).await.map_err(failed)?;
                let address = listener.local_addr().map_err(failed)?;
                tracing::info!("serving metrics on http://{address}/metrics");
                Some(listener)
            }
        };
        if listener.is_some() || collector::metrics().is_some() {
            metric::enable();
            BUILD_INFO.set([version, process], 1.0);
        }
        Ok(Self(listener))
    }

    /// Serves and sends until the runtime ends.
    pub fn serve(self, measure: impl Measure) -> Exports {
        let measure = Arc::new(measure);
        if let Some(listener) = self.0 {
            tokio::spawn(accept(listener, measure.clone()));
        }
        Exports(collector::metrics().map(|metrics| Push::start(metrics, measure)))
    }
}

/// The exports of this process that have started.
#[derive(Debug)]
#[must_use = "the last values are sent by `finish`"]
pub struct Exports(Option<Push>);

impl Exports {
    /// Sends the last values to the collector, if there is one. Takes at most a few seconds.
    pub async fn finish(self) {
        if let Some(push) = self.0 {
            push.end().await;
        }
    }
}

async fn answer(measure: &impl Measure, request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    if request.uri().path() != "/metrics" {
        *response.status_mut() = StatusCode::NOT_FOUND;
    } else if !matches!(*request.method(), Method::GET | Method::HEAD) {
        *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
    } else {
        measure.measure().await;
        measure_process();
        response.headers_mut().insert(CONTENT_TYPE, FORMAT);
        *response.body_mut() = Full::from(text());
    }
    response
}

async fn accept(listener: TcpListener, measure: Arc<impl Measure>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let place = places.clone().acquire_owned().await; // the semaphore is never closed
        match listener.accept().await {
            Ok((stream, _)) => {
                let served = serve(stream, measure.clone());
                tokio::spawn(async move {
                    // A connection that fails or takes too long concerns only its client.
                    let _ = timeout(CONNECTION_LIMIT, served).await;
                    drop(place);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection for metrics");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

async fn serve(stream: TcpStream, measure: Arc<impl Measure>) -> Result<(), hyper::Error> {
    let answer = service_fn(move |request| {
        let measure = measure.clone();
        async move { Ok::<_, Infallible>(answer(&*measure, &request).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_LIMIT);
    http.serve_connection(TokioIo::new(stream), answer).await
}
