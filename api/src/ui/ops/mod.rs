//! The operations page: what operators see of queues, workers, jobs, webhooks and keys, and what they change and have changed. The pages are made here, and
//! work without the script, which only updates numbers.

mod attempts;
mod audit;
mod chart;
mod errors;
mod events;
mod failure;
mod form;
mod format;
mod history;
mod job;
mod jobs;
mod keys;
mod layout;
mod live;
mod login;
mod notice;
mod operator;
mod overview;
mod search_query;
mod state;
mod webhooks;

use axum::{
    Router,
    extract::DefaultBodyLimit,
    middleware::map_response,
    response::Response,
    routing::{get, post},
};

pub(crate) use state::OpsState;

use super::respond;

/// What the pages may load: files of this server, and nothing else. No script and no style is part of a page.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The most bytes of a form: a page of jobs, or an error text.
const MAX_FORM_BYTES: usize = 64 * 1024;

/// The routes of the page.
pub(super) fn routes() -> Router<OpsState> {
    Router::new()
        .route("/ops", get(overview::handle))
        .route("/ops/login", get(login::form).post(login::enter))
        .route("/ops/logout", post(login::leave))
        .route("/ops/events", get(events::handle))
        .route("/ops/queues", post(overview::set_queue))
        .route("/ops/workers", post(overview::set_worker))
        .route("/ops/jobs", get(jobs::handle).post(jobs::change))
        .route("/ops/jobs/{id}", get(job::handle))
        .route("/ops/errors", get(errors::handle).post(errors::retry))
        .route("/ops/webhooks", get(webhooks::handle).post(webhooks::redeliver))
        .route("/ops/keys", get(keys::handle).post(keys::revoke))
        .route("/ops/keys/expiry", post(keys::expire))
        .route("/ops/audit", get(audit::handle))
        .layer(DefaultBodyLimit::max(MAX_FORM_BYTES))
        .layer(map_response(protect))
}

async fn protect(response: Response) -> Response {
    respond::protect(response, CSP, "same-origin")
}
