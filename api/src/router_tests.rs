//! Tests of routes without a database: unknown paths and methods, requests without a key, pages.

use akhar_jobs::uploads::UploadStore;
use akhar_platform::{
    config::Config,
    database::{Database, Pool, Servers},
    reload::LiveConfig,
    shutdown::Shutdown,
};
use axum::{
    body::{Body, to_bytes},
    http::{Request, StatusCode, header},
};
use serde_json::Value;
use tower::ServiceExt as _;

use super::*;
use crate::ui::playground::DemoKey;

/// An app whose database cannot be reached.
pub(crate) fn app() -> App {
    app_until(&Shutdown::default())
}

/// An app whose database cannot be reached, and that `shutdown` stops.
pub(crate) fn app_until(shutdown: &Shutdown) -> App {
    let unreachable = Servers::parse("postgres://nobody@127.0.0.1:1/nothing").unwrap();
    App::new(
        LiveConfig::fixed(Config::default()),
        Database::of_pool(Pool::new(unreachable, 10)),
        UploadStore::in_database(),
        shutdown,
        DemoKey::none(),
    )
}

async fn send(app: App, method: &str, path: &str, headers: &[(&str, &str)]) -> (Response, Vec<u8>) {
    let mut request = Request::builder().method(method).uri(path).header("host", "akhar");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = router(app).oneshot(request.body(Body::from("ignored")).unwrap()).await.unwrap();
    let (parts, body) = response.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.unwrap().to_vec();
    if let Some(length) = parts.headers.get(header::CONTENT_LENGTH) {
        assert!(method == "HEAD" || length.to_str().unwrap() == bytes.len().to_string());
    }
    (Response::from_parts(parts, Body::empty()), bytes)
}

async fn problem(method: &str, path: &str, headers: &[(&str, &str)]) -> (Response, Value) {
    let (response, bytes) = send(app(), method, path, headers).await;
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
    let body: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(body["status"], response.status().as_u16());
    assert_eq!(body["request_id"], response.headers()["x-request-id"].to_str().unwrap());
    (response, body)
}

#[tokio::test]
async fn an_unknown_path_is_a_problem_for_every_method() {
    for method in ["GET", "POST", "OPTIONS", "TRACE", "BREW"] {
        let (response, body) =
            problem(method, "/v1/models/digit-recognition/", &[("x-request-id", "mine")]).await;
        assert_eq!(
            (response.status(), &body["type"]),
            (StatusCode::NOT_FOUND, &"/problems/not-found".into())
        );
        assert_eq!(
            (&body["instance"], &body["request_id"]),
            (&"/v1/models/digit-recognition/".into(), &"mine".into())
        );
    }
}

#[tokio::test]
async fn every_operation_has_a_route() {
    for operation in Operation::ALL.into_iter().filter(|operation| operation.has_form()) {
        let path = format!("/v1/models/{}", operation.name());
        let (response, body) = problem("POST", &path, &[]).await;
        assert_eq!((response.status(), &body["instance"]), (StatusCode::UNAUTHORIZED, &path.into()));
    }
}

#[tokio::test]
async fn the_answer_to_an_unknown_method_lists_the_known_ones() {
    let cases = [
        ("GET", "/v1/models/digit-recognition", "POST"),
        ("HEAD", "/v1/models/digit-recognition", "POST"),
        ("OPTIONS", "/v1/models/alphabet-recognition", "POST"),
        ("TRACE", "/v1/models/alphabet-recognition", "POST"),
        ("POST", "/v1/jobs/x", "GET,HEAD,DELETE"),
        ("DELETE", "/health/live", "GET,HEAD"),
        ("BREW", "/openapi.json", "GET,HEAD"),
    ];
    for (method, path, allow) in cases {
        let (response, body) = send(app(), method, path, &[]).await;
        assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
        let detail = format!(
            "The path does not support the method \"{method}\". It supports {}.",
            allow.replace(',', ", ")
        );
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        assert!(method == "HEAD" || body["detail"] == detail, "{method} {path}: {body}");
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/problem+json");
        assert_eq!(response.headers()[header::ALLOW], allow, "{method} {path}");
    }
}

#[tokio::test]
async fn a_path_is_routed_in_its_normal_form_and_quoted_as_it_was_sent() {
    let (response, body) = problem("POST", "/v1/models/digit%2Drecognition", &[]).await;
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(body["instance"], "/v1/models/digit%2Drecognition");
}

#[tokio::test]
async fn the_connection_is_closed_if_a_request_cannot_be_read() {
    let (response, body) = problem("POST", "/v1/jobs/x", &[("transfer-encoding", "gzip, chunked")]).await;
    assert_eq!(
        (response.status().as_u16(), &body["type"]),
        (501, &"/problems/unsupported-transfer-coding".into())
    );
    assert_eq!(response.headers()[header::CONNECTION], "close");
}

#[tokio::test]
async fn every_request_without_a_valid_key_gets_the_same_detail() {
    let no_key = "Bearer ak_short";
    for headers in [&[][..], &[("authorization", no_key)], &[("authorization", "Basic YTpi")]] {
        for (method, path) in
            [("POST", "/v1/models/digit-recognition"), ("GET", "/v1/jobs/x"), ("DELETE", "/v1/jobs/x")]
        {
            let (response, body) = problem(method, path, headers).await;
            assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
            assert_eq!(response.headers()[header::WWW_AUTHENTICATE], "Bearer");
            assert_eq!(body["detail"], ProblemType::Unauthorized.facts().meaning);
        }
    }
}

#[tokio::test]
async fn without_a_database_the_process_is_live_but_not_ready() {
    let (live, _) = send(app(), "GET", "/health/live", &[]).await;
    assert_eq!(live.status(), StatusCode::OK);
    let (ready, body) = problem("GET", "/health/ready", &[]).await;
    assert_eq!(ready.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(ready.headers()[header::RETRY_AFTER], "2");
    assert!(!body.to_string().contains("127.0.0.1"));
}

#[tokio::test]
async fn a_stopping_server_is_not_ready_and_closes_each_connection() {
    let shutdown = Shutdown::default();
    let app = app_until(&shutdown);
    shutdown.leaving.cancel();
    for (path, status) in [("/health/live", 200), ("/health/ready", 503), ("/v1/jobs/x", 401)] {
        let (response, _) = send(app.clone(), "GET", path, &[]).await;
        assert_eq!(response.status().as_u16(), status, "{path}");
        assert_eq!(response.headers()[header::CONNECTION], "close");
    }
}

#[tokio::test]
async fn a_panic_is_a_500_without_the_panic_message() {
    let response = panic_response(Box::new("the secret cause"));
    assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    let problem = response.extensions().get::<Problem>().unwrap().clone();
    assert!(!serde_json::to_string(&problem.body("/", "r")).unwrap().contains("secret"));
}

#[tokio::test]
async fn pages_are_served() {
    for (path, text) in [
        ("/problems", "too-large"),
        ("/problems/too-large", "413"),
        ("/openapi.json", "\"openapi\": \"3.1.0\""),
    ] {
        let (response, body) = send(app(), "GET", path, &[]).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert!(String::from_utf8(body).unwrap().contains(text), "{path}");
    }
    for path in ["/problems/none", "/problems/%FF"] {
        assert_eq!(problem("GET", path, &[]).await.0.status(), StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn every_page_has_an_icon_so_that_no_browser_asks_for_one() {
    for path in ["/", "/docs", "/ops/login", "/problems", "/problems/too-large"] {
        let (response, body) = send(app(), "GET", path, &[]).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        let body = String::from_utf8(body).unwrap();
        let (_, icon) = body.split_once("<link rel=\"icon\" href=\"").expect(path);
        let (icon, _) = icon.split_once('"').unwrap();
        let (response, _) = send(app(), "GET", icon, &[]).await;
        assert_eq!(response.status(), StatusCode::OK, "{icon}");
        assert_eq!(response.headers()[header::CONTENT_TYPE], "image/svg+xml");
    }
}
