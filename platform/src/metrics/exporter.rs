//! Serves `GET /metrics` on a listener of its own, in the text format of Prometheus.

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
use metrics::{SharedString, Unit, set_global_recorder, with_recorder};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use metrics_process::Collector;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{MissedTickBehavior, interval, timeout},
};

use super::{
    metric::{self, Kind},
    table::{BUILD_INFO, TABLE},
};

/// Connections to the listener at a time.
const MAX_CONNECTIONS: usize = 16;
/// The longest time that one connection is open. A server that scrapes opens another.
const CONNECTION_LIMIT: Duration = Duration::from_secs(600);
/// How long a client may take to send its request.
const HEADER_LIMIT: Duration = Duration::from_secs(10);
/// How often recorded values are put into their buckets if nobody asks for them, so that they take no more memory.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);
/// The pause after a failed accept, for example if there are no free file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(200);

const FORMAT: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");

/// Why metrics cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum MetricsError {
    /// The address cannot be used.
    #[error("cannot serve metrics on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        source: std::io::Error,
    },
    /// The recorder cannot be made, or another one is in use.
    #[error("cannot record metrics: {0}")]
    Recorder(String),
}

/// Sets the values that are measured only when somebody asks for them.
pub trait Measure: Send + Sync + 'static {
    /// Measures them. What takes long must bound its own time.
    fn measure(&self) -> impl Future<Output = ()> + Send;
}

/// The exporter of this process. Without an address it exports nothing.
#[derive(Debug)]
pub struct Exporter(Option<(TcpListener, PrometheusHandle)>);

impl Exporter {
    /// Listens on the address, if there is one, and records from now on. `process` and `version` are labels of
    /// `akhar_build_info`.
    pub async fn start(
        address: Option<SocketAddr>,
        process: &str,
        version: &str,
    ) -> Result<Self, MetricsError> {
        let Some(address) = address else { return Ok(Self(None)) };
        let listen = |source| MetricsError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let handle = install()?;
        BUILD_INFO.set([version, process], 1.0);
        let address = listener.local_addr().map_err(listen)?;
        tracing::info!("serving metrics on http://{address}/metrics");
        Ok(Self(Some((listener, handle))))
    }

    /// Serves until the runtime ends.
    pub fn serve(self, measure: impl Measure) {
        let Some((listener, handle)) = self.0 else { return };
        tokio::spawn(upkeep(handle.clone()));
        tokio::spawn(accept(listener, Arc::new(Scrape { handle, measure, process: Collector::default() })));
    }
}

/// Installs the recorder of this process, with the names, texts and buckets of the table.
fn install() -> Result<PrometheusHandle, MetricsError> {
    let error = |error: &dyn std::fmt::Display| MetricsError::Recorder(error.to_string());
    let mut builder = PrometheusBuilder::new();
    for row in TABLE {
        if let Kind::Histogram(buckets) = row.kind {
            let name = Matcher::Full(row.name.to_owned());
            builder = builder.set_buckets_for_metric(name, buckets).map_err(|e| error(&e))?;
        }
    }
    let recorder = builder.build_recorder();
    let handle = recorder.handle();
    set_global_recorder(recorder).map_err(|e| error(&e))?;
    metric::enable();
    with_recorder(|recorder| {
        for row in TABLE {
            let name = row.name.into();
            let help = SharedString::const_str(row.help.trim_ascii());
            match row.kind {
                Kind::Counter => recorder.describe_counter(name, None::<Unit>, help),
                Kind::Gauge => recorder.describe_gauge(name, None, help),
                Kind::Histogram(_) => recorder.describe_histogram(name, None, help),
            }
        }
    });
    Ok(handle)
}

async fn upkeep(handle: PrometheusHandle) {
    let mut ticks = interval(UPKEEP_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        handle.run_upkeep();
    }
}

/// What one request for the metrics needs.
struct Scrape<M> {
    handle: PrometheusHandle,
    measure: M,
    process: Collector,
}

impl<M: Measure> Scrape<M> {
    async fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::default());
        if request.uri().path() != "/metrics" {
            *response.status_mut() = StatusCode::NOT_FOUND;
        } else if !matches!(*request.method(), Method::GET | Method::HEAD) {
            *response.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        } else {
            self.measure.measure().await;
            self.process.collect();
            response.headers_mut().insert(CONTENT_TYPE, FORMAT);
            *response.body_mut() = Full::from(self.handle.render());
        }
        response
    }
}

async fn accept<M: Measure>(listener: TcpListener, scrape: Arc<Scrape<M>>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let place = places.clone().acquire_owned().await; // the semaphore is never closed
        match listener.accept().await {
            Ok((stream, _)) => {
                let served = serve(stream, scrape.clone());
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

async fn serve<M: Measure>(stream: TcpStream, scrape: Arc<Scrape<M>>) -> Result<(), hyper::Error> {
    let answer = service_fn(move |request| {
        let scrape = scrape.clone();
        async move { Ok::<_, Infallible>(scrape.answer(&request).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_LIMIT);
    http.serve_connection(TokioIo::new(stream), answer).await
}
