//! The middleware around every route. It gives each request an id, a tracing span and a log line, and writes the
//! bodies of problems.

use std::time::Duration;

use akhar_platform::{
    metrics,
    shutdown::Shutdown,
    telemetry::traces::{self, Served},
};
use axum::{
    body::HttpBody as _,
    extract::{MatchedPath, Request, State},
    http::{HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use tracing::{Instrument as _, Span, field::Empty};

use super::{
    answers::Answers,
    compression::{Coding, compressed},
    context::{AKHAR_JOB, RequestInfo, X_REQUEST_ID, traceparent},
    public_path::PublicPath,
    request_line,
    unread_body::{Discards, UnreadBody},
};
use crate::problems::{Problem, Reason};

/// What the middleware of all requests shares.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    /// While the process is leaving, clients should open their next connection to another one.
    shutdown: Shutdown,
    discards: Discards,
    answers: Answers,
    public: PublicPath,
}

impl Shared {
    /// The state of a process that `shutdown` stops.
    pub(crate) fn new(shutdown: &Shutdown, answers: &Answers, public: &PublicPath) -> Self {
        let (shutdown, answers, public) = (shutdown.clone(), answers.clone(), public.clone());
        Self { shutdown, discards: Discards::default(), answers, public }
    }
}

/// The outermost layer.
pub(crate) async fn handle(State(shared): State<Shared>, mut request: Request, next: Next) -> Response {
    let info = RequestInfo::new(request.headers(), request.uri().path());
    let span = tracing::info_span!("request", request_id = %info.id, caller = Empty, job = Empty);
    traces::continue_trace(&span, traceparent(request.headers()).as_deref());
    request.extensions_mut().insert(info.clone());
    metrics::HTTP_REQUESTS.add_one([]);
    metrics::HTTP_REQUESTS_IN_PROGRESS.add([], 1.0);
    let (method, status, reason) = (request.method().clone(), None, None);
    let mut line = LogLine { method, info, span: span.clone(), status, reason };
    let (response, reason) = respond(&shared, &line.info, request, next).instrument(span).await;
    line.reason = reason;
    line.status = Some(response.status());
    let mut response = finish(response, &line.info, shared.shutdown.leaving.is_cancelled());
    shared.public.write(response.headers_mut());
    response
}

/// The layer inside the routes: notes which of them a request has matched.
pub(crate) async fn note_route(request: Request, next: Next) -> Response {
    let extensions = request.extensions();
    if let (Some(info), Some(route)) = (extensions.get::<RequestInfo>(), extensions.get::<MatchedPath>()) {
        let _ = info.route.set(route.clone()); // a request matches one route, so nothing has set it before
    }
    next.run(request).await
}

async fn respond(
    shared: &Shared,
    info: &RequestInfo,
    request: Request,
    next: Next,
) -> (Response, Option<Reason>) {
    let coding = Coding::preferred(request.headers());
    let (mut request, unread) = share_body(request);
    let checked = request_line::check(&mut request);
    let mut response = match checked {
        Err(problem) => {
            let mut response = problem.into_response();
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            response
        }
        Ok(()) => next.run(request).await,
    };
    let mut held = None;
    if let Some(share) = info.share.take() {
        match shared.answers.hold(&response, share) {
            Ok(holds) => held = holds,
            Err(problem) => response = problem.into_response(),
        }
    }
    let problem = response.extensions_mut().remove::<Problem>();
    let reason = problem.as_ref().map(Problem::reason);
    if let Some(problem) = problem {
        problem.count();
        problem.write(&mut response, &info.path, &info.id);
        if let Some(unread) = unread {
            unread.discard(&shared.discards);
        }
    }
    let response = compressed(response, coding).await;
    let response = match held {
        Some(held) => held.until_sent(response),
        None => response,
    };
    (response, reason)
}

/// Keeps a handle on a body that the client is sending. A client that waits for `100 Continue` sends a body only when
/// a handler reads it, so such a body is not shared.
fn share_body(request: Request) -> (Request, Option<UnreadBody>) {
    if request.body().is_end_stream() || request.headers().contains_key(header::EXPECT) {
        return (request, None);
    }
    let (parts, body) = request.into_parts();
    let (unread, shared) = UnreadBody::share(body);
    (Request::from_parts(parts, shared), Some(unread))
}

/// Adds the headers that every response has.
fn finish(mut response: Response, info: &RequestInfo, is_leaving: bool) -> Response {
    let is_upgraded = response.status() == StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&info.id) {
        headers.insert(X_REQUEST_ID, id);
    }
    if let Some(job) = info.job.get().and_then(|job| HeaderValue::try_from(job.to_string()).ok()) {
        headers.insert(AKHAR_JOB, job);
    }
    info.rate_limits.write(headers);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if is_leaving && !is_upgraded {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// The most characters of a path that the log has.
const MAX_LOGGED_PATH: usize = 256;

/// The name of methods that are not usual.
const OTHER: &str = "other";

/// Writes one log line about a request and counts it when it is dropped. If it has no status then, the client disconnected before
/// the response.
struct LogLine {
    method: Method,
    info: RequestInfo,
    span: Span,
    status: Option<StatusCode>,
    /// Why the request was refused.
    reason: Option<Reason>,
}

impl LogLine {
    /// The method, if it is a usual one. Callers can invent others, of any length.
    fn method(&self) -> &str {
        let known = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS];
        if known.contains(&self.method) { self.method.as_str() } else { OTHER }
    }

    /// The path, or its start.
    fn path(&self) -> &str {
        let whole = &*self.info.path;
        whole.char_indices().nth(MAX_LOGGED_PATH).map_or(whole, |(end, _)| &whole[..end])
    }

    fn count(&self, elapsed: Duration) {
        let route = self.info.route.get().map_or("unmatched", MatchedPath::as_str);
        let method = self.method();
        let status = self.status.as_ref().map_or("none", StatusCode::as_str);
        metrics::HTTP_REQUESTS_IN_PROGRESS.add([], -1.0);
        metrics::HTTP_RESPONSES.add_one([route, method, status]);
        self.span.in_scope(|| metrics::HTTP_REQUEST_SECONDS.record_duration([route], elapsed));
        let served = Served {
            method: Some(method).filter(|method| *method != OTHER),
            route: self.info.route.get().map(MatchedPath::as_str),
            path: self.path(),
            status: self.status.map(|status| status.as_u16()),
        };
        traces::describe_served(&self.span, &served);
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        let method = self.method();
        let path = self.path();
        let elapsed = self.info.received_at.elapsed();
        drop(self.info.share.take()); // of a client that disconnected before the response
        let ms = (elapsed.as_secs_f64() * 1e6).round() / 1e3;
        self.count(elapsed);
        let Some(status) = self.status else {
            tracing::info!(parent: &self.span, method, path, ms, "client disconnected");
            return;
        };
        let status = status.as_u16();
        let reason = self.reason.as_ref();
        let problem = reason.map(|reason| reason.problem);
        let field = reason.and_then(|reason| reason.field.as_deref());
        let code = reason.and_then(|reason| reason.code.as_deref());
        tracing::info!(parent: &self.span, method, path, status, ms, problem, field, code, "request completed");
    }
}
