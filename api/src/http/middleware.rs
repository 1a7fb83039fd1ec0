//! Around every request: it comes in bare and leaves with its id, its span, its log line, and its problem written.

use std::time::Instant;

use axum::{
    body::HttpBody as _,
    extract::{Request, State},
    http::{HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use tracing::{Instrument as _, Span, field::Empty};

use crate::{
    app::App,
    http::context::{Arrival, X_REQUEST_ID, request_id},
    http::unread_body::Leftover,
    problems::{Problem, ProblemType},
};

/// The outermost layer.
pub(crate) async fn envelop(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let arrival = Arrival {
        request_id: request_id(request.headers()),
        path: request.uri().path().into(),
        at: Instant::now(),
    };
    let span = tracing::info_span!("request", request_id = %arrival.request_id, caller = Empty, job = Empty);
    request.extensions_mut().insert(arrival.clone());
    let mut line = LogLine { method: request.method().clone(), arrival, span: span.clone(), status: None };
    let response = answer(&app, &line.arrival, request, next).instrument(span).await;
    line.status = Some(response.status());
    response
}

async fn answer(app: &App, arrival: &Arrival, request: Request, next: Next) -> Response {
    let (request, leftover) = lend_body(request);
    let mut response = if app.is_draining() && !arrival.path.starts_with("/health/") {
        Problem::of(ProblemType::Draining).into_response()
    } else {
        next.run(request).await
    };
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        problem.write(&mut response, &arrival.path, &arrival.request_id);
        if let Some(leftover) = leftover {
            leftover.discard().await;
        }
    }
    stamp(app, arrival, &mut response);
    response
}

/// Keeps hold of a body that is on its way. One that waits for `100 Continue` is not, and needs no care.
fn lend_body(request: Request) -> (Request, Option<Leftover>) {
    if request.body().is_end_stream() || request.headers().contains_key(header::EXPECT) {
        return (request, None);
    }
    let (parts, body) = request.into_parts();
    let (leftover, lent) = Leftover::of(body);
    (Request::from_parts(parts, lent), Some(leftover))
}

fn stamp(app: &App, arrival: &Arrival, response: &mut Response) {
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(&arrival.request_id) {
        headers.insert(X_REQUEST_ID, id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if app.is_draining() {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
}

/// The one line about a request. Dropped without a status, the caller left before the answer.
struct LogLine {
    method: Method,
    arrival: Arrival,
    span: Span,
    status: Option<StatusCode>,
}

impl Drop for LogLine {
    fn drop(&mut self) {
        let (method, path) = (self.method.as_str(), &*self.arrival.path);
        let ms = (self.arrival.at.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        let Some(status) = self.status else {
            tracing::info!(parent: &self.span, method, path, ms, "the caller left");
            return;
        };
        tracing::info!(parent: &self.span, method, path, status = status.as_u16(), ms, "answered");
    }
}
