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

use axum::{Router, extract::FromRef, middleware::map_response, routing::get};
use state::PageState;

use crate::http::public_path::PublicPath;

/// The routes of all pages, in a server whose state is `app`. `document` is the OpenAPI document.
pub(crate) fn routes<S>(app: &S, document: &[u8], public: &PublicPath) -> Router<S>
where
    PageState: FromRef<S>,
    S: Clone + Send + Sync + 'static,
{
    let state = PageState::from_ref(app);
    let public = public.clone();
    Router::new()
        .merge(ops::routes().with_state(state.ops))
        .merge(problems::routes())
        .layer(map_response({
            let public = public.clone();
            move |response| public.clone().respond(response)
        }))
        // These pages are made once, with their links as clients need them.
        .merge(playground::routes(document, &public).with_state(state.demo_key))
        .route("/language/{code}", get(choice::handle))
        .route(assets::ROUTE, get(assets::handle))
}
