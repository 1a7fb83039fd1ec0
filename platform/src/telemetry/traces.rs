//! Exports spans to an OpenTelemetry collector, and carries a trace from the api to the worker in the
//! `traceparent` of a job. Without a collector there are no spans to export and every function here does nothing.

use std::{
    borrow::Cow,
    collections::HashMap,
    fmt::{Debug, Display},
};

use opentelemetry::{
    Value,
    propagation::TextMapPropagator as _,
    trace::{SpanBuilder, SpanKind, Status, TraceContextExt as _, Tracer, TracerProvider as _},
};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use opentelemetry_sdk::{
    Resource,
    propagation::TraceContextPropagator,
    trace::{SdkTracer, SdkTracerProvider},
};
use tracing::{Metadata, Span, Subscriber, subscriber::Interest};
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::{
    Layer,
    layer::{Context, Filter},
    registry::LookupSpan,
};

use super::collector::{Collector, CollectorError, EXPORT_LIMIT, LAST_EXPORT_LIMIT};

/// The target of spans that only traces have, and no log line.
pub const TARGET: &str = "akhar_trace";

/// Keeps these spans away from the log, whatever `RUST_LOG` says.
pub(super) const SPANS_OFF: &str = "akhar_trace=off";

/// The header and column of a trace's context: <https://www.w3.org/TR/trace-context/>.
const TRACEPARENT: &str = "traceparent";

/// The traces of this process.
#[derive(Debug, Default)]
pub struct Traces(Option<SdkTracerProvider>);

impl Traces {
    /// Sends the spans that were not sent yet. Blocks the thread for at most a few seconds, so call it when the process
    /// ends.
    pub fn finish(self) {
        if let Some(Err(error)) = self.0.map(|provider| provider.shutdown_with_timeout(LAST_EXPORT_LIMIT)) {
            tracing::warn!(%error, "the last spans were not sent to the collector");
        }
    }
}

/// A layer that exports the spans of akhar, if there is a collector.
pub(super) fn layer<S>(
    collector: Option<(&Collector, Resource)>,
) -> Result<(Option<impl Layer<S> + use<S>>, Traces), CollectorError>
where
    S: Subscriber + for<'span> LookupSpan<'span>,
{
    let Some((collector, resource)) = collector else { return Ok((None, Traces::default())) };
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(collector.client("traces"))
        .with_endpoint(collector.url("traces")?.to_string())
        .with_timeout(EXPORT_LIMIT)
        .build()
        .map_err(|error| collector.error(&error))?;
    let provider = SdkTracerProvider::builder().with_batch_exporter(exporter).with_resource(resource).build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(WithKinds(provider.tracer("akhar")))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_tracked_inactivity(false)
        .with_filter(Exported);
    Ok((Some(layer), Traces(Some(provider))))
}

/// Gives spans their kinds, by the names that they have in the code. As fields of the spans, the kinds would also be in the lines
/// of the log.
#[derive(Debug)]
struct WithKinds(SdkTracer);

impl Tracer for WithKinds {
    type Span = <SdkTracer as Tracer>::Span;

    fn build_with_context(&self, builder: SpanBuilder, parent: &opentelemetry::Context) -> Self::Span {
        let kind = match &*builder.name {
            "request" => SpanKind::Server,
            "send" => SpanKind::Producer,
            "job" => SpanKind::Consumer,
            "webhook" => SpanKind::Client,
            _ => SpanKind::Internal,
        };
        self.0.build_with_context(builder.with_kind(kind), parent)
    }
}

/// Spans of akhar are exported. Log lines are not, and neither are the spans of libraries.
struct Exported;

impl<S> Filter<S> for Exported {
    fn enabled(&self, metadata: &Metadata<'_>, _: &Context<'_, S>) -> bool {
        metadata.is_span() && metadata.target().starts_with("akhar")
    }

    /// Filters of layers remember their last answer in the thread. A library that only asks whether a level is enabled
    /// leaves an answer behind, which would hold for the next span if that were always enabled. So none is.
    fn callsite_enabled(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }
}

/// Makes a new span a part of the trace with this context. Call it before the span is entered.
pub fn continue_trace(span: &Span, traceparent: Option<&str>) {
    let Some(traceparent) = traceparent else { return };
    // Without a collector the span is in no trace.
    let _ = span.set_parent(extract(traceparent));
}

/// Makes a new span point at the span with this context, as the start of another trace does.
pub fn link(span: &Span, traceparent: Option<&str>) {
    let Some(traceparent) = traceparent else { return };
    span.add_link(extract(traceparent).span().span_context().clone());
}

fn extract(traceparent: &str) -> opentelemetry::Context {
    let carrier = HashMap::from([(TRACEPARENT.to_owned(), traceparent.to_owned())]);
    TraceContextPropagator::new().extract(&carrier)
}

/// The context of a span, for a job or another process that continues its trace. `None` if the span is in no trace.
pub fn context(span: &Span) -> Option<String> {
    let context = span.context();
    if !context.span().span_context().is_valid() {
        return None;
    }
    let mut carrier = HashMap::new();
    TraceContextPropagator::new().inject_context(&context, &mut carrier);
    carrier.remove(TRACEPARENT)
}

/// Adds an attribute to a span in traces. Log lines do not have it.
pub fn set(span: &Span, name: &'static str, value: impl Into<Value>) {
    span.set_attribute(name, value);
}

/// What a span does with a message of a queue.
#[derive(Debug, Clone, Copy)]
pub enum Messaging {
    /// It submits a job.
    Send,
    /// It makes an attempt at a job.
    Process,
}

/// Describes a span about a job as <https://opentelemetry.io/docs/specs/semconv/messaging/> does. It must have its parent and
/// links by now.
pub fn describe_message(span: &Span, operation: Messaging, queue: &'static str, job: impl Display) {
    let operation = match operation {
        Messaging::Send => "send",
        Messaging::Process => "process",
    };
    rename(span, format!("{operation} {queue}"));
    set(span, "messaging.system", "akhar");
    set(span, "messaging.operation.type", operation);
    set(span, "messaging.operation.name", operation);
    set(span, "messaging.destination.name", queue);
    set(span, "messaging.message.id", job.to_string());
}

/// A request that this process has answered, or that its client left.
#[derive(Debug)]
pub struct Served<'a> {
    /// The method. `None` if it is an unusual one.
    pub method: Option<&'a str>,
    /// The route, if there is one for the path.
    pub route: Option<&'a str>,
    /// The path.
    pub path: &'a str,
    /// The status of the response. `None` if the client left before.
    pub status: Option<u16>,
}

/// Describes the span of a request as <https://opentelemetry.io/docs/specs/semconv/http/http-spans/> does.
pub fn describe_served(span: &Span, Served { method, route, path, status }: &Served<'_>) {
    let name = method.unwrap_or("HTTP");
    rename(span, route.map_or_else(|| name.to_owned(), |route| format!("{name} {route}")));
    set(span, "http.request.method", method.unwrap_or("_OTHER").to_owned());
    set(span, "url.scheme", "http");
    set(span, "url.path", (*path).to_owned());
    if let Some(route) = route {
        set(span, "http.route", (*route).to_owned());
    }
    match status {
        None => set(span, "error.type", "client_disconnected"),
        Some(status) => {
            set(span, "http.response.status_code", i64::from(*status));
            if *status >= 500 {
                fail(span, status.to_string());
            }
        }
    }
}

/// Describes the span of a request that this process sends, in the same way. The path of its URL can be a secret, so the span
/// does not have it.
pub fn describe_sent(span: &Span, method: &'static str, server: &str, port: Option<u16>) {
    rename(span, method);
    set(span, "http.request.method", method);
    set(span, "server.address", server.to_owned());
    if let Some(port) = port {
        set(span, "server.port", i64::from(port));
    }
}

/// Says that what a span did has failed. There are few values of `error_type`.
pub fn fail(span: &Span, error_type: impl Into<Value>) {
    set(span, "error.type", error_type);
    span.set_status(Status::error(""));
}

fn rename(span: &Span, name: impl Into<Cow<'static, str>>) {
    span.context().span().update_name(name);
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::prelude::*;

    use super::*;

    const TRACEPARENT_OF_CALLER: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[tokio::test(flavor = "multi_thread")]
    async fn a_span_continues_the_trace_of_its_caller_and_passes_it_on() {
        let collector = Collector {
            endpoint: "http://127.0.0.1:1".to_owned(),
            service: "test",
            version: "0",
            client: crate::http_client::builder(crate::telemetry::collector::LIMITS)
                .unwrap()
                .build()
                .unwrap(),
            runtime: tokio::runtime::Handle::current(),
        };
        let (layer, _traces) = layer(Some((&collector, collector.resource()))).unwrap();
        let lines = tracing_subscriber::fmt::layer().with_writer(std::io::sink);
        let filter = tracing_subscriber::EnvFilter::new("info,akhar_trace=off");
        let subscriber = tracing_subscriber::registry().with(layer).with(lines.with_filter(filter));
        tracing::subscriber::with_default(subscriber, || {
            // As libraries do. The answer must not hold for the span.
            let _ = tracing::enabled!(tracing::Level::INFO);
            let span = tracing::info_span!(target: "akhar_test", "request");
            continue_trace(&span, Some(TRACEPARENT_OF_CALLER));
            let context = context(&span).unwrap();
            assert_eq!(context[..36], TRACEPARENT_OF_CALLER[..36], "the same trace");
            assert_ne!(context[36..52], TRACEPARENT_OF_CALLER[36..52], "another span");
        });
        assert_eq!(context(&Span::none()), None);
    }
}
