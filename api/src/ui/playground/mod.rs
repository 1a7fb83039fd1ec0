//! The playground, `/`: a page to try every operation in a browser. The page is made here, and what it shows by its scripts,
//! which call the service as any other program does.

mod demo_key;
mod key;
mod page;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    http::{HeaderMap, HeaderValue},
    middleware::map_response,
    response::Response,
    routing::{get, post},
};

pub use demo_key::DemoKey;
use page::Pages;

use super::{language::Language, respond};
use crate::http::public_path::PublicPath;

/// What the page may load: files of this server, and what its scripts have made. No script and no style is part of the page.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' blob: data:; \
    media-src blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// What the page may use of the device.
const PERMISSIONS: &str = "microphone=(self), camera=(), geolocation=()";

/// The most bytes of a body: a token.
const MAX_BODY_BYTES: usize = 1024;

/// The routes of the playground. `document` is the OpenAPI document, from which the page takes the limits of fields.
pub(super) fn routes(document: &[u8], public: &PublicPath) -> Router<DemoKey> {
    let playground = Pages::playground(document, public);
    let reference = Pages::reference(public);
    Router::new()
        .route("/", get(async move |headers: HeaderMap| respond_with(&playground, &headers)))
        .route("/docs", get(async move |headers: HeaderMap| respond_with(&reference, &headers)))
        .route("/playground/key", post(key::handle))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(map_response(protect))
}

fn respond_with(pages: &Pages, headers: &HeaderMap) -> Response {
    pages.of(Language::of(headers)).respond(headers, "text/html; charset=utf-8")
}

async fn protect(response: Response) -> Response {
    let mut response = respond::protect(response, CSP, "no-referrer");
    response.headers_mut().insert("permissions-policy", HeaderValue::from_static(PERMISSIONS));
    response
}
