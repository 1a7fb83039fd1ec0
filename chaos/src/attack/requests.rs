//! Floods of whole requests: wrong keys, deep JSON and long texts.

use std::time::Instant;

use reqwest::{Method, RequestBuilder};
use serde_json::json;

use super::attacker::{Answers, Attacker, flood};

/// Clients that send requests at the same time.
const N_CLIENTS: usize = 32;

/// Requests with keys that do not exist. Each is another one.
pub(super) async fn wrong_keys(attacker: &Attacker, end: Instant) -> Answers {
    let request = |nth: usize| {
        let key = format!("ak_{:08}_{:043}", nth % 100_000_000, nth);
        attacker.request(Method::GET, "/v1/jobs/00000000-0000-7000-8000-000000000000", &key)
    };
    flood(N_CLIENTS, end, request).await
}

/// Bodies of brackets only.
pub(super) async fn deep_json(attacker: &Attacker, end: Instant) -> Answers {
    let body = format!("{{\"text\": {}", "[".repeat(8000));
    flood(N_CLIENTS, end, |_| writing(attacker, body.clone())).await
}

/// The longest texts on the longest lines, drawn with the widest pen.
pub(super) async fn long_texts(attacker: &Attacker, end: Instant) -> Answers {
    let text: String = "ਸ਼੍ਰੀ ਗੁਰੂ ਗ੍ਰੰਥ\n".chars().cycle().take(100).collect();
    let body =
        json!({"text": text, "with-image": true, "page-width": 950, "page-length": 300, "line-space": 150,
        "char-space": 50, "word-space": 100, "stroke-width": 8})
        .to_string();
    flood(N_CLIENTS, end, |_| writing(attacker, body.clone())).await
}

fn writing(attacker: &Attacker, body: String) -> RequestBuilder {
    let request = attacker.request(Method::POST, "/v1/models/handwriting-generator", &attacker.key);
    request.header("content-type", "application/json").body(body)
}
