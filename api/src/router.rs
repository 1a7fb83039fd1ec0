//! Every route: requests come in by path and method, each endpoint's file answers, the envelope is around all.

use std::any::Any;

use axum::{
    Router,
    middleware::from_fn_with_state,
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use tower_http::catch_panic::CatchPanicLayer;

use crate::{
    app::App,
    health,
    http::middleware::envelop,
    jobs,
    operations::{alphabet_recognition, digit_recognition, handwriting_generator, speech_recognition},
    pages,
    problems::{Problem, ProblemType},
};

/// All of them.
pub(crate) fn router(app: App) -> Router {
    Router::new()
        .route("/v1/models/alphabet-recognition", post(alphabet_recognition::route::handle))
        .route("/v1/models/digit-recognition", post(digit_recognition::route::handle))
        .route("/v1/models/handwriting-generator", post(handwriting_generator::route::handle))
        .route("/v1/models/speech-recognition", post(speech_recognition::route::handle))
        .route("/v1/jobs/{id}", get(jobs::get::handle).delete(jobs::cancel::handle))
        .route("/v1/jobs/{id}/result", get(jobs::result::handle))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/openapi.json", get(pages::openapi))
        .route("/problems", get(pages::problems))
        .route("/problems/{slug}", get(pages::problem))
        .fallback(async || Problem::of(ProblemType::NotFound))
        .method_not_allowed_fallback(async || Problem::of(ProblemType::MethodNotAllowed))
        .layer(CatchPanicLayer::custom(caught))
        .layer(from_fn_with_state(app.clone(), envelop))
        .with_state(app)
}

/// A bug ends its own request and no other.
#[expect(clippy::needless_pass_by_value, reason = "the layer hands it over so")]
fn caught(panic: Box<dyn Any + Send>) -> Response {
    let text =
        panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    Problem::internal(format_args!("panic: {}", text.unwrap_or("without words"))).into_response()
}

#[cfg(test)]
#[path = "router_tests.rs"]
pub(crate) mod tests;
