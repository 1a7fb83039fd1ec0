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
pub(crate) mod state;

use axum::{Router, extract::FromRef, routing::get};
use state::PageState;

/// The routes of all pages, in a server whose state is `app`. `document` is the OpenAPI document.
pub(crate) fn routes<S>(app: &S, document: &[u8]) -> Router<S>
where
    PageState: FromRef<S>,
    S: Clone + Send + Sync + 'static,
{
    let state = PageState::from_ref(app);
    Router::new()
        .merge(playground::routes(document).with_state(state.demo_key))
        .merge(ops::routes().with_state(state.ops))
        .merge(problems::routes())
        .route("/language/{code}", get(choice::handle))
        .route(assets::ROUTE, get(assets::handle))
}
