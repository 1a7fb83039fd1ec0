//! Requests as programs that use OpenAI's audio API send them. `tests/fixtures/openai` has a file for each program: where
//! its requests are from, the parts of each request with their heads, and what its authors expect of the response: the status,
//! and the types of the members that their code reads, by JSON pointer.

use std::fs;

use akhar_tests::{
    Form, Stack,
    http::{Answer, send},
    root,
};
use serde_json::{Map, Value};

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no text {name}: {value}"))
}

fn members<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    value.get(name).and_then(Value::as_object).into_iter().flat_map(Map::iter)
}

async fn answer(stack: &Stack, request: &Value) -> Answer {
    let mut sent = stack.request(text(request, "method"), text(request, "path"));
    for (name, value) in members(request, "headers") {
        sent = sent.header(name, value.as_str().expect("a text"));
    }
    let Some(parts) = request["parts"].as_array() else {
        return send(sent).await;
    };
    let form = parts.iter().fold(Form::default(), |form, part| {
        let head = text(part, "head");
        match part["file"].as_str() {
            Some(file) => {
                let file = root().join("tests/fixtures/audio").join(file);
                form.part(head, &fs::read(file).expect("a recording"))
            }
            None => form.part(head, text(part, "text").as_bytes()),
        }
    });
    send(form.send_with(sent)).await
}

const fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn check(name: &str, answer: &Answer, expected: &Value) {
    let body = String::from_utf8_lossy(&answer.body);
    assert_eq!(answer.status, expected["status"], "{name}: {body}");
    let content_type = answer.header("content-type");
    assert!(content_type.starts_with(text(expected, "content_type")), "{name}: {content_type}");
    assert!(body.starts_with(expected["starts_with"].as_str().unwrap_or_default()), "{name}: {body}");
    for (pointer, expected) in members(expected, "members") {
        let found = answer.json().pointer(pointer).map(type_of);
        assert_eq!(found, expected.as_str(), "{name}: {pointer} in {body}");
    }
    for (pointer, expected) in members(expected, "equal") {
        assert_eq!(answer.json().pointer(pointer), Some(expected), "{name}: {pointer} in {body}");
    }
    if let Some(events) = expected["events"].as_array() {
        let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
        let found = data.map(|data| serde_json::from_str::<Value>(data).expect("JSON")["type"].clone());
        assert_eq!(found.collect::<Vec<_>>(), *events, "{name}: {body}");
    }
    if let Some(warnings) = expected["warnings"].as_array() {
        let found = akhar_client::Warnings::read(answer.header("akhar-warnings")).general;
        assert_eq!(found, *warnings, "{name}");
    }
}

#[tokio::test]
async fn every_option_of_six_clients_is_answered_as_their_authors_expect() {
    let stack = Stack::start().await;
    let mut n_clients = 0;
    for file in fs::read_dir(root().join("tests/fixtures/openai")).expect("fixtures") {
        let file = fs::read(file.expect("a file").path()).expect("a fixture");
        let client: Value = serde_json::from_slice(&file).expect("a client's requests");
        n_clients += 1;
        for request in client["requests"].as_array().expect("requests") {
            let name = format!("{}, {}", text(&client, "client"), text(request, "about"));
            check(&name, &answer(&stack, request).await, &request["expect"]);
        }
    }
    assert_eq!(n_clients, 6);
}
