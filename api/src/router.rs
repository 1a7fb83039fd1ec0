//! All routes of the server, with the middleware around them.

use std::{any::Any, sync::Arc};

use akhar_requests::Operation;
use axum::{
    Router,
    http::{HeaderMap, Method, Uri},
    middleware::{from_fn, from_fn_with_state},
    response::{IntoResponse as _, Response},
    routing::{MethodRouter, get, post},
};
use bytes::Bytes;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa::openapi::Server;

use crate::{
    admin,
    app::App,
    groups, health,
    http::{compression::Packed, cors, middleware},
    input::names::{nearest_path, quoted},
    jobs, openai,
    openapi::{openapi, openapi_json},
    operations::{self, with_operations},
    problems::{Problem, ProblemType},
    realtime, tokens, ui, uploads,
};

macro_rules! handlers {
    ($($operation:ident: $folder:ident,)+) => {
        /// The handler of an operation's route, if a request asks for it with a form.
        fn handler(operation: Operation) -> Option<MethodRouter<App>> {
            match operation {
                $(Operation::$operation => Some(post(operations::$folder::route::handle)),)+
                Operation::LiveTranscription => None,
            }
        }
    };
}
with_operations!(handlers);

/// Builds the router.
pub(crate) fn router(app: App) -> Router {
    let mut openapi = openapi();
    if let Some(url) = &app.public_url {
        openapi.servers = Some(vec![Server::new(url.as_str())]);
    }
    let document = Bytes::from(openapi_json(&openapi));
    let paths: Arc<[String]> = openapi.paths.paths.into_keys().collect();
    let known = Arc::clone(&paths);
    let of_no_operation = async move |uri: Uri| no_route(uri.path(), &known);
    let public = app.public_path();
    let pages = ui::routes(&app, &document, &public);
    let document = Arc::new(Packed::new(document));
    let shared = middleware::Shared::new(&app.shutdown, &app.answers, &public);
    let cors = (!app.cors_origins.0.is_empty()).then(|| cors::layer(&app.cors_origins));
    let with_handlers =
        Operation::ALL.into_iter().filter_map(|operation| Some((operation, handler(operation)?)));
    let models = with_handlers.fold(Router::new(), |router, (operation, handler)| {
        router.route(&format!("/v1/models/{}", operation.name()), handler)
    });
    let routes = models
        .route("/v1/models", get(openai::models::handle))
        .route("/v1/models/{id}", get(openai::model::handle).fallback(of_no_operation))
        .route("/v1/audio/transcriptions", post(openai::transcriptions::handle))
        .route("/v1/audio/translations", post(openai::translations::handle))
        .route("/v1/groups", get(groups::list::handle))
        .route("/v1/groups/{name}", get(groups::get::handle).delete(groups::delete::handle))
        .route("/v1/groups/{name}/events", get(groups::events::handle))
        .route("/v1/jobs", get(jobs::list::handle))
        .route("/v1/jobs/{id}", get(jobs::get::handle).delete(jobs::delete::handle))
        .route("/v1/jobs/{id}/events", get(jobs::events::handle))
        .route("/v1/jobs/{id}/result", get(jobs::result::handle))
        .route(realtime::PATH, get(realtime::route::transcribe))
        .route("/v1/realtime/translations", get(realtime::route::translate))
        .route("/v1/realtime/translations/client_secrets", post(realtime::secrets::of_translation))
        .route("/v1/realtime/client_secrets", post(realtime::secrets::of_client))
        .route("/v1/realtime/transcription_sessions", post(realtime::secrets::of_transcription_session))
        .route("/v1/tokens", post(tokens::handle))
        .route("/v1/uploads", post(uploads::handle))
        .merge(admin::routes())
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready))
        .route("/livez", get(health::live))
        .route("/readyz", get(health::ready))
        .route(
            "/openapi.json",
            get(async move |headers: HeaderMap| document.respond(&headers, "application/json")),
        )
        .merge(pages)
        .fallback(async move |uri: Uri| no_route(uri.path(), &paths))
        .method_not_allowed_fallback(async |method: Method| no_method(&method))
        .layer(CatchPanicLayer::custom(panic_response))
        .layer(from_fn(middleware::note_route))
        .with_state(app);
    // A layer of `routes` itself would run after the path is matched, but the middleware changes paths.
    let served = Router::new().fallback_service(routes).layer(from_fn_with_state(shared, middleware::handle));
    match cors {
        Some(cors) => served.layer(cors),
        None => served,
    }
}

/// The problem of a path that no route has. Names the most similar one, unless that is for operators and the path is not; of
/// OpenAI's API, those that there are.
fn no_route(path: &str, paths: &[String]) -> Problem {
    let is_admin = |path: &str| path.starts_with(ADMIN);
    let known = paths.iter().map(String::as_str).filter(|known| is_admin(path) || !is_admin(known));
    let near = nearest_path(path, known).map(|near| format!("; did you mean {near}?"));
    let hint = near.unwrap_or_else(|| {
        let is_openai = path.strip_prefix("/v1/").and_then(|rest| rest.split('/').next());
        let is_openai = is_openai.is_some_and(|first| OPENAI.contains(&first));
        if is_openai { format!(". Of OpenAI's API, this server has {OFFERED}.") } else { ".".to_owned() }
    });
    let detail = format!("There is no such path{hint} /openapi.json lists all paths.");
    Problem::of(ProblemType::NotFound).with_detail(detail)
}

/// What the paths for operators begin with.
const ADMIN: &str = "/v1/admin";
/// The first parts of paths of OpenAI's API behind `/v1/`.
const OPENAI: [&str; 14] = [
    "assistants",
    "audio",
    "batches",
    "chat",
    "completions",
    "conversations",
    "embeddings",
    "files",
    "fine_tuning",
    "images",
    "moderations",
    "realtime",
    "responses",
    "threads",
];
const OFFERED: &str = "/v1/audio/transcriptions, /v1/audio/translations, /v1/models and /v1/realtime";

/// The problem of a method that a path does not support. Its Allow header adds those that it supports.
fn no_method(method: &Method) -> Problem {
    let method = quoted(method.as_str());
    Problem::of(ProblemType::MethodNotAllowed)
        .with_detail(format!("The path does not support the method {method}."))
}

/// The response to a request whose handler panicked.
#[expect(clippy::needless_pass_by_value, reason = "the layer passes it by value")]
fn panic_response(panic: Box<dyn Any + Send>) -> Response {
    let text =
        panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    Problem::internal(format_args!("panic: {}", text.unwrap_or("no message"))).into_response()
}

#[cfg(test)]
#[path = "router_tests.rs"]
pub(crate) mod tests;
