//! The service below a path of another host: a proxy takes the path away, and everything that leads back to the service has it.

use std::collections::{BTreeMap, BTreeSet};

use akhar_tests::{
    Answer, Form, Stack, http::send, images::fixture_of, load_balancer::Program, ops::Operator,
};
use regex::Regex;
use serde_json::json;

const PATH: &str = "/akhar";
const URL: &str = "https://example.org/akhar";

/// The address of a path that the service named, for a client that found the service at `base`.
fn resolved(base: &str, path: &str) -> String {
    base.parse::<reqwest::Url>().expect("a URL").join(path).expect("a path").into()
}

/// The links of a page by their kind, without those to a place in the same page.
fn links(page: &Answer) -> Vec<(String, String)> {
    if !page.header("content-type").starts_with("text/html") {
        return Vec::new();
    }
    let link = Regex::new(r##"[ ](href|src|action)="([^"#][^"#]*)"##).expect("a pattern");
    let text = page.text();
    link.captures_iter(&text).map(|found| (found[1].to_owned(), found[2].replace("&amp;", "&"))).collect()
}

#[tokio::test]
async fn everything_leads_back_to_the_path_that_a_proxy_takes_away() {
    let stack = Stack::with().set_text("AKHAR_PUBLIC_URL", URL).workers(1).start().await;
    let replacements =
        [("location / {", "location /akhar/ {"), ("proxy_pass http://akhar;", "proxy_pass http://akhar/;")];
    let nginx = Program::Nginx;
    let proxy = nginx.start_with(stack.folder(), [&stack.base, &stack.base], PATH, &replacements).await;

    // Requests and their jobs, with the addresses that answers name.
    let image = fixture_of("੫");
    let request = |method: &str, url: &str| stack.request(method, url);
    let url = format!("{}/v1/models/{}", proxy.base, image.operation);
    let accepted =
        Form::upload(&image.bytes).send_with(request("POST", &url).header("prefer", "respond-async"));
    let accepted = send(accepted).await;
    let job = accepted.header("location").to_owned();
    let id = job.rsplit_once("/akhar/v1/jobs/").expect("the job below the path").1;
    let document = send(request("GET", &format!("{}?wait=60", resolved(&proxy.base, &job)))).await.json();
    assert_eq!(document["result"]["predictions"][0]["label"], "੫");
    let events = send(request("GET", &resolved(&proxy.base, &format!("{job}/events")))).await.text();
    assert!(events.contains("succeeded"), "{events}");
    let document = send(request("GET", &format!("{}/openapi.json", proxy.base))).await.json();
    assert_eq!(document["servers"], json!([{"url": URL}]));

    // Signing in: the browser is sent to the page, and sends the session to it and to no other path of the host.
    let key = stack.keys(&["create", "--name", "operator", "--role", "admin"]).await;
    let mut operator = Operator::anonymous(&stack);
    operator.comes_to(&proxy.base);
    assert_eq!(operator.get("/ops").await.header("location"), "/akhar/ops/login");
    let entered = operator.sign_in(&key).await;
    assert_eq!((entered.status, entered.header("location")), (303, "/akhar/ops"));
    for cookie in entered.headers.get_all("set-cookie") {
        assert!(cookie.to_str().expect("ASCII").contains("; Path=/akhar/ops;"), "{cookie:?}");
    }
    let language = operator.get("/language/pa?to=/ops/jobs").await;
    assert_eq!(language.header("location"), "/akhar/ops/jobs");
    assert!(language.header("set-cookie").contains("; Path=/akhar/;"), "{language:?}");
    assert!(operator.first_event("/ops/events").await["values"].is_object());

    // Every link of every page leads to something.
    let mut waiting: Vec<String> =
        ["/", "/docs", "/problems", "/ops", &format!("/ops/jobs/{id}")].map(str::to_owned).into();
    let mut found = BTreeMap::<String, BTreeSet<String>>::new();
    while let Some(path) = waiting.pop() {
        for (kind, link) in links(&operator.get(&path).await) {
            let Some(inside) = link.strip_prefix(PATH).filter(|rest| rest.starts_with('/')) else {
                panic!("{path} leads to {link}")
            };
            if !found.entry(kind.clone()).or_default().insert(inside.to_owned()) || kind == "action" {
                continue;
            }
            assert!(operator.get(inside).await.status < 400, "{path} leads to {link}");
            if !inside.starts_with("/language/") && waiting.len() + found.len() < 100 {
                waiting.push(inside.to_owned());
            }
        }
    }
    let all = |kind: &str| {
        found[kind].iter().any(|path| path.starts_with("/ops/jobs") || path.starts_with("/assets/"))
    };
    assert!(all("href") && all("src") && all("action"), "{found:?}");
}
