//! Tokens, with which web pages use an operation, and the origins whose pages may.

use akhar_tests::{
    Answer, Form, Stack, TIMEOUT,
    events::Events,
    http::send,
    images::fixture_of,
    ops::Operator,
    scripts::{NodeFolder, json},
    until,
    webhooks::Receiver,
};
use serde_json::{Value, json};
use tokio::time::timeout;

const SITE: &str = "https://app.example";
const DIGITS: &str = "digit-recognition";

async fn stack() -> Stack {
    Stack::with().set_text("AKHAR_CORS_ORIGINS", "http://localhost:5173, https://app.example").start().await
}

fn creation(stack: &Stack, wanted: &Value) -> reqwest::RequestBuilder {
    stack.request("POST", "/v1/tokens").json(wanted)
}

/// A token for digits on pages of [`SITE`].
async fn token(stack: &Stack) -> String {
    let answer = send(creation(stack, &json!({"operation": DIGITS, "origin": SITE, "minutes": 1}))).await;
    assert_eq!(answer.status, 201, "{}", answer.text());
    answer.json()["token"].as_str().expect("a token").to_owned()
}

/// A request with a token from a page of [`SITE`].
fn from_page(stack: &Stack, token: &str, method: &str, path: &str) -> reqwest::RequestBuilder {
    stack.anonymous(method, path).bearer_auth(token).header("origin", SITE)
}

fn digit(stack: &Stack, token: &str) -> reqwest::RequestBuilder {
    Form::upload(&fixture_of("੫").bytes).send_with(from_page(
        stack,
        token,
        "POST",
        "/v1/models/digit-recognition",
    ))
}

#[tokio::test]
async fn a_token_uses_its_operation_and_the_jobs_that_its_page_knows() {
    let stack = stack().await;
    let token = token(&stack).await;
    assert!(token.starts_with("at_") && token.len() == stack.key.len(), "{token}");
    let answer = send(digit(&stack, &token)).await;
    assert_eq!((answer.status, answer.predictions()[0].0.as_str()), (200, "੫"));
    let job = send(digit(&stack, &token).header("prefer", "respond-async")).await.job();
    let waited = send(from_page(&stack, &token, "GET", &format!("/v1/jobs/{job}?wait=30"))).await;
    assert_eq!(waited.json()["state"], "succeeded");
    assert_eq!(send(from_page(&stack, &token, "GET", &format!("/v1/jobs/{job}/result"))).await.status, 200);
    // The jobs are the account's.
    assert_eq!(send(stack.request("GET", &format!("/v1/jobs/{job}"))).await.status, 200);
    let events =
        stack.anonymous("GET", &format!("/v1/jobs/{job}/events?token={token}")).header("origin", SITE);
    let events = Events::open(events, None).await.rest().await;
    assert_eq!(events.last().map(|event| event.name.as_str()), Some("done"));
    let log = stack.api.log().join("\n");
    assert!(!log.contains(&token) && log.contains(&token[3..11]), "{log}");
}

#[tokio::test]
async fn a_token_is_for_nothing_else() {
    let stack = stack().await;
    let token = token(&stack).await;
    let job = send(digit(&stack, &token)).await.header("akhar-job").to_owned();
    let image = Form::upload(&fixture_of("ਕ").bytes);
    let page = |method: &str, path: &str| from_page(&stack, &token, method, path);
    let elsewhere = |origin: &str| {
        stack.anonymous("GET", &format!("/v1/jobs/{job}")).bearer_auth(&token).header("origin", origin)
    };
    for request in [
        image.send_with(page("POST", "/v1/models/alphabet-recognition")),
        page("GET", "/v1/jobs"),
        page("GET", "/v1/models"),
        page("POST", "/v1/tokens").json(&json!({"operation": DIGITS, "origin": SITE})),
        digit(&stack, &token).header("akhar-webhook", "https://example.com"),
        elsewhere("http://localhost:5173"),
        stack.anonymous("GET", &format!("/v1/jobs/{job}")).bearer_auth(&token),
    ] {
        let problem = stack.refused(request, 403).await;
        assert_eq!(problem.slug, "out-of-scope");
    }
    let forged = format!("{}{}", &token[..token.len() - 1], if token.ends_with('a') { "b" } else { "a" });
    stack.refused(digit(&stack, &forged), 401).await;
    // A key stays out of addresses, and a token is read from those of events only.
    for path in
        [format!("/v1/jobs/{job}/events?token={}", stack.key), format!("/v1/jobs/{job}?token={token}")]
    {
        stack.refused(stack.anonymous("GET", &path).header("origin", SITE), 401).await;
    }
    let admin = stack.keys(&["create", "--name", "night shift", "--role", "admin"]).await;
    let wanted = json!({"operation": DIGITS, "origin": SITE});
    let of_admin = send(stack.anonymous("POST", "/v1/tokens").bearer_auth(&admin).json(&wanted)).await.json();
    let of_admin = of_admin["token"].as_str().expect("a token");
    assert_eq!(Operator::anonymous(&stack).sign_in(of_admin).await.status, 403);
}

#[tokio::test]
async fn a_token_works_until_it_expires_or_its_key_is_revoked() {
    let stack = stack().await;
    let expired = token(&stack).await;
    let expire = "update tokens set expires_at = now() - interval '1 second'";
    sqlx::query(expire).execute(&stack.db).await.expect("a row");
    stack.refused(digit(&stack, &expired), 401).await;
    // The next one takes its place.
    let revoked = token(&stack).await;
    let n: i64 = sqlx::query_scalar("select count(*) from tokens").fetch_one(&stack.db).await.expect("a row");
    assert_eq!(n, 1);
    stack.akhar(&["queues", "pause", "quick"]).await;
    let job = send(digit(&stack, &revoked).header("prefer", "respond-async")).await.job();
    let events = stack.anonymous("GET", &format!("/v1/jobs/{job}/events?token={revoked}"));
    let events = Events::open(events.header("origin", SITE), None).await;
    stack.keys(&["revoke", &stack.key[3..11]]).await;
    until("the token is refused", async || (send(digit(&stack, &revoked)).await.status == 401).then_some(()))
        .await;
    timeout(TIMEOUT, events.rest()).await.expect("the stream ends with the key");
}

#[tokio::test]
async fn what_a_token_is_asked_for_is_checked() {
    let stack = stack().await;
    let errors = async |wanted: Value| send(creation(&stack, &wanted)).await.errors(422);
    let pairs =
        |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
    assert_eq!(errors(json!({})).await, pairs(&[("operation", "missing"), ("origin", "missing")]));
    let wrong = json!({"operation": "x", "origin": "app.example", "minutes": 61, "seconds": 5});
    let expected = [
        ("operation", "not_a_choice"),
        ("origin", "not_a_url"),
        ("minutes", "out_of_range"),
        ("seconds", "unknown"),
    ];
    assert_eq!(errors(wrong).await, pairs(&expected));
    let other = json!({"operation": DIGITS, "origin": "https://other.example"});
    assert_eq!(errors(other).await, pairs(&[("origin", "not_allowed")]));
    stack.refused(stack.anonymous("POST", "/v1/tokens").json(&json!({})), 401).await;
}

/// The headers of an answer that browsers read.
fn allowed(answer: &Answer) -> [&str; 2] {
    ["access-control-allow-origin", "vary"].map(|name| answer.header(name))
}

#[tokio::test]
async fn browsers_let_pages_of_the_origins_read_every_answer() {
    let stack = stack().await;
    let preflight = |origin: &str| {
        stack
            .anonymous("OPTIONS", "/v1/models/digit-recognition")
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization, content-type, idempotency-key")
    };
    let answer = send(preflight(SITE)).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("access-control-allow-origin"), SITE);
    assert_eq!(answer.header("access-control-allow-methods"), "GET,POST,DELETE");
    assert_eq!(answer.header("access-control-allow-headers"), "authorization, content-type, idempotency-key");
    assert_eq!(answer.header("access-control-max-age"), "7200");
    assert!(
        !send(preflight("https://other.example")).await.headers.contains_key("access-control-allow-origin")
    );

    let [refused, missing] =
        ["/v1/jobs", "/v1/nothing"].map(|path| stack.anonymous("GET", path).header("origin", SITE));
    for (request, status) in [(refused, 401), (missing, 404)] {
        let answer = send(request).await;
        assert_eq!(answer.status, status);
        let [origin, vary] = allowed(&answer);
        assert_eq!((origin, answer.header("access-control-expose-headers")), (SITE, "*"));
        assert!(vary.contains("origin"), "{vary}");
        assert!(!answer.headers.contains_key("access-control-allow-credentials"));
    }
    // Without the setting there are no such headers.
    let closed = Stack::with().workers(0).start().await;
    let answer = send(closed.request("GET", "/v1/jobs").header("origin", SITE)).await;
    assert_eq!(answer.status, 200);
    assert!(!answer.headers.contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn a_page_in_a_browser_uses_a_token_and_one_of_another_origin_does_not() {
    let site = Receiver::start(&[]).await;
    let stack = Stack::with().set_text("AKHAR_CORS_ORIGINS", &site.base).start().await;
    let wanted = json!({"operation": "handwriting-generator", "origin": site.base});
    let token = send(creation(&stack, &wanted)).await.json()["token"].as_str().expect("a token").to_owned();
    let mut program = NodeFolder::new(stack.folder(), "tokens").program(&stack, "tokens.ts");
    let other = site.base.replace("127.0.0.1", "localhost");
    program.arg(&token).arg(&site.base).arg(&other);
    let got = json(program).await["got"].take();
    assert_eq!(got[0]["status"], 202, "{got}");
    assert!(got[0]["job"].is_string(), "{got}");
    assert_eq!(got[0]["events"].as_array().and_then(|events| events.last()), Some(&json!("done")), "{got}");
    assert_eq!(got[1], "TypeError", "{got}");
}
