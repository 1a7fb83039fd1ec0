//! Pages for people: the playground, the API's documentation, the operations page and the pages of problem types.

mod assets;
mod choice;
mod cookies;
mod head;
mod language;
pub(crate) mod ops;
pub(crate) mod playground;
mod problems;
mod query;
mod respond;

use axum::{Router, routing::get};

use crate::app::App;

/// The routes of all pages. `document` is the OpenAPI document.
pub(crate) fn routes(document: &[u8]) -> Router<App> {
    Router::new()
        .merge(playground::routes(document))
        .merge(ops::routes())
        .merge(problems::routes())
        .route("/language/{code}", get(choice::handle))
        .route(assets::ROUTE, get(assets::handle))
}
