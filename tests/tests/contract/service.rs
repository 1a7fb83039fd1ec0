//! The service's descriptions of itself: health, the OpenAPI document, the pages of problems.

use akhar_tests::{Form, Stack, http::send, until};
use rustix::process::Signal;
use serde_json::Value;

#[tokio::test]
async fn health_needs_no_key_and_readiness_needs_a_database() {
    let stack = Stack::start().await;
    for path in ["/health/live", "/health/ready"] {
        assert_eq!(send(stack.anonymous("GET", path)).await.status, 200, "{path}");
    }
    let name: String =
        sqlx::query_scalar("select current_database()").fetch_one(&stack.db).await.expect("a name");
    let admin = akhar_tests::Cluster::shared();
    admin.close_database(&name).await;
    until("it is not ready without its database", async || {
        (send(stack.anonymous("GET", "/health/ready")).await.status == 503).then_some(())
    })
    .await;
    assert_eq!(send(stack.anonymous("GET", "/health/live")).await.status, 200);
    admin.open_database(&name).await;
    until("it is ready again", async || {
        (send(stack.anonymous("GET", "/health/ready")).await.status == 200).then_some(())
    })
    .await;
}

#[tokio::test]
async fn readiness_needs_a_worker() {
    let stack = Stack::start().await;
    let ready = async || send(stack.anonymous("GET", "/health/ready")).await;
    until("it is ready", async || (ready().await.status == 200).then_some(())).await;
    stack.workers[0].signal(Signal::STOP);
    let problem = until("it is not ready", async || {
        let answer = ready().await;
        (answer.status == 503).then(|| answer.problem(503))
    })
    .await;
    assert_eq!(problem.slug, "no-worker");
    stack.workers[0].signal(Signal::CONT);
    until("it is ready again", async || (ready().await.status == 200).then_some(())).await;
}

#[tokio::test]
async fn an_api_that_needs_no_worker_accepts_jobs_and_serves_results_without_one() {
    let mut stack = Stack::with().set_text("AKHAR_READY_NEEDS", "database").start().await;
    let image = akhar_tests::images::fixture_of("੫");
    let submit = async |stack: &Stack| {
        let request =
            stack.post(image.operation, &Form::upload(&image.bytes)).header("prefer", "respond-async");
        send(request).await.job()
    };
    let job = submit(&stack).await;
    stack.job_is(job, "succeeded").await;
    stack.workers.remove(0).kill().await;
    until("the readiness says that no worker claims jobs", async || {
        let ready = send(stack.anonymous("GET", "/readyz")).await;
        assert_eq!(ready.status, 200);
        ready.json()["notes"].to_string().contains("no worker").then_some(())
    })
    .await;
    assert_eq!(stack.get(&format!("/v1/jobs/{job}/result")).await.predictions()[0].0, image.label);
    let waiting = submit(&stack).await;
    stack.job_is(waiting, "queued").await;
    stack.add_worker().await;
    stack.job_is(waiting, "succeeded").await;
}

#[tokio::test]
async fn an_api_that_needs_no_database_is_ready_without_it() {
    let stack = Stack::with().workers(0).set_text("AKHAR_READY_NEEDS", "process").start().await;
    let name: String =
        sqlx::query_scalar("select current_database()").fetch_one(&stack.db).await.expect("a name");
    akhar_tests::Cluster::shared().close_database(&name).await;
    until("the readiness says that the database does not answer", async || {
        let ready = send(stack.anonymous("GET", "/health/ready")).await;
        assert_eq!(ready.status, 200);
        ready.json()["notes"].to_string().contains("database").then_some(())
    })
    .await;
    assert_eq!(send(stack.anonymous("GET", "/livez")).await.status, 200);
}

#[tokio::test]
async fn the_openapi_document_lists_every_route_and_error() {
    let stack = Stack::with().workers(0).start().await;
    let answer = send(stack.anonymous("GET", "/openapi.json")).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    let document = answer.json();
    assert!(document["openapi"].as_str().is_some_and(|v| v.starts_with("3.1")), "{}", document["openapi"]);
    let statuses: [(&str, &str, &[&str]); 8] = [
        (
            "/v1/models/digit-recognition",
            "post",
            &["200", "202", "400", "401", "413", "415", "422", "500", "503"],
        ),
        (
            "/v1/models/alphabet-recognition",
            "post",
            &["200", "202", "400", "401", "413", "415", "422", "500", "503"],
        ),
        (
            "/v1/models/handwriting-generator",
            "post",
            &["200", "202", "400", "401", "406", "413", "415", "422", "500", "503"],
        ),
        ("/v1/jobs/{id}", "get", &["200", "401", "404", "410"]),
        ("/v1/jobs/{id}", "delete", &["200", "204", "401", "404"]),
        ("/v1/jobs/{id}/result", "get", &["200", "401", "404", "409", "422", "500"]),
        ("/health/live", "get", &["200"]),
        ("/health/ready", "get", &["200", "503", "507"]),
    ];
    for (path, method, statuses) in statuses {
        let responses = document["paths"][path][method]["responses"].as_object();
        let responses = responses.unwrap_or_else(|| panic!("{method} {path} is missing"));
        for status in statuses {
            assert!(responses.contains_key(*status), "{method} {path} does not list {status}");
        }
        for (status, response) in responses.iter().filter(|(s, _)| s.as_str() >= "400") {
            let shared =
                response["$ref"].as_str().map(|place| &document["components"]["responses"][&place[23..]]);
            let problem = &shared.unwrap_or(response)["content"]["application/problem+json"];
            assert!(problem.is_object(), "{method} {path} {status} is not a problem document");
        }
    }
    let text = document.to_string();
    assert!(text.contains("\"example"), "the document has no examples");
    assert_eq!(document["components"]["securitySchemes"].as_object().map(serde_json::Map::len), Some(2));
    for slug in slugs(&document) {
        let page = send(stack.anonymous("GET", &format!("/problems/{slug}"))).await;
        assert_eq!(page.status, 200, "/problems/{slug}");
    }
}

/// The slug of every `/problems/<slug>` in the document.
fn slugs(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => text
            .strip_prefix("/problems/")
            .filter(|s| !s.contains('{'))
            .map(str::to_owned)
            .into_iter()
            .collect(),
        Value::Array(list) => list.iter().flat_map(slugs).collect(),
        Value::Object(map) => map.values().flat_map(slugs).collect(),
        _ => Vec::new(),
    }
}
