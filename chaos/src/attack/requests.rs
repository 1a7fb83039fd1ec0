//! Floods of whole requests: wrong keys, deep JSON, long texts and what fills an account. And requests to any route whose senders hang up.

use std::time::{Duration, Instant};

use akhar_tests::{Form, http, images::fixture_of};
use rand::{
    RngExt as _,
    distr::{Alphanumeric, SampleString as _},
};
use reqwest::{Method, RequestBuilder};
use serde_json::json;
use tokio::{
    io::AsyncWriteExt as _,
    task::JoinSet,
    time::{interval, sleep},
};

use super::attacker::{Answers, Attacker, answer_to, flood};

/// Clients that send requests at the same time.
const N_CLIENTS: usize = 32;

/// Clients that send keys with prefixes that do not exist.
const N_PREFIXES: usize = 256;

/// The characters of a key before its secret.
const KEY_START: usize = "ak_".len() + 8 + "_".len();

/// The answer to who has stored as much as the account may.
const FULL: &str = "429 quota-exceeded";
/// How long a client waits then: it fills the disk, and other attacks are floods.
const REFUSED_PAUSE: Duration = Duration::from_millis(100);

/// The time from one hang-up to the next: 1,200 a minute.
const HANG_UP_INTERVAL: Duration = Duration::from_millis(50);

/// Requests to routes of all kinds, whose senders disconnect 0 to 3 ms after they have sent them.
pub(super) async fn hang_ups(attacker: &Attacker, end: Instant) -> Answers {
    let mut answers = Answers::default();
    let requests = requests(&attacker.key);
    let mut ticks = interval(HANG_UP_INTERVAL);
    while Instant::now() < end {
        ticks.tick().await;
        let Some(mut stream) = attacker.connect().await else {
            answers.count("no connection");
            continue;
        };
        let request = &requests[rand::rng().random_range(0..requests.len())];
        let pause = Duration::from_micros(rand::rng().random_range(0..3000));
        let sent = stream.write_all(request).await;
        sleep(pause).await;
        answers.count(sent.map_or("refused", |()| "disconnected"));
    }
    answers
}

/// The bytes of requests to routes that read and write.
fn requests(key: &str) -> Vec<Vec<u8>> {
    let with_body = |method, path, kind: &str, headers: &[(&str, &str)], body: Vec<u8>| {
        let length = body.len().to_string();
        let headers = [&[("content-type", kind), ("content-length", &length)], headers].concat();
        [http::head(method, path, key, &headers), body].concat()
    };
    let picture = Form::upload(&fixture_of("੫").bytes);
    let digit = |headers: &[(&str, &str)]| {
        let path = "/v1/models/digit-recognition";
        with_body("POST", path, &picture.content_type(), headers, picture.body())
    };
    let job = "/v1/jobs/019d0f6e-8e52-7d0c-a4f5-5b2b3f6d3c11";
    vec![
        digit(&[]),
        digit(&[("prefer", "respond-async"), ("akhar-group", "hung-up")]),
        digit(&[("idempotency-key", "hung-up")]),
        with_body(
            "POST",
            "/v1/tokens",
            "application/json",
            &[],
            br#"{"operation": "digit-recognition", "expires-in": 60}"#.to_vec(),
        ),
        http::head("GET", "/health/ready", key, &[]),
        http::head("GET", "/v1/jobs?state=queued", key, &[]),
        http::head("GET", "/v1/groups", key, &[]),
        http::head("GET", job, key, &[]),
        http::head("DELETE", job, key, &[]),
        http::head("DELETE", "/v1/groups/hung-up?purge=true", key, &[]),
    ]
}

/// Requests with the prefix of the attacker's key and other secrets.
pub(super) async fn wrong_keys(attacker: &Attacker, end: Instant) -> Answers {
    let prefix = &attacker.key[..KEY_START];
    flood(N_CLIENTS, end, |nth| with_key(attacker, &format!("{prefix}{nth:043}"))).await
}

/// Requests with keys whose prefixes are drawn, so that each must be looked for.
pub(super) async fn wrong_prefixes(attacker: &Attacker, end: Instant) -> Answers {
    let drawn = |n| Alphanumeric.sample_string(&mut rand::rng(), n);
    flood(N_PREFIXES, end, |_| with_key(attacker, &format!("ak_{}_{}", drawn(8), drawn(43)))).await
}

fn with_key(attacker: &Attacker, key: &str) -> RequestBuilder {
    attacker.request(Method::GET, "/v1/jobs/00000000-0000-7000-8000-000000000000", key)
}

/// Bodies of brackets only.
pub(super) async fn deep_json(attacker: &Attacker, end: Instant) -> Answers {
    let body = format!("{{\"text\": {}", "[".repeat(8000));
    flood(N_CLIENTS, end, |_| writing(attacker, body.clone())).await
}

/// The longest texts on the longest lines, drawn with the widest pen.
pub(super) async fn long_texts(attacker: &Attacker, end: Instant) -> Answers {
    let body = long_text();
    flood(N_CLIENTS, end, |_| writing(attacker, body.clone())).await
}

/// The same texts until the account has stored as much as it may, and on. A client that is refused waits for [`REFUSED_PAUSE`].
pub(super) async fn stored_bytes(attacker: &Attacker, end: Instant) -> Answers {
    let request = writing(attacker, long_text());
    let mut answers = Answers::default();
    let mut clients = JoinSet::new();
    for _ in 0..N_CLIENTS {
        let request = request.try_clone().expect("bytes");
        clients.spawn(async move {
            let mut answers = Answers::default();
            while Instant::now() < end {
                let answer = answer_to(request.try_clone().expect("bytes")).await;
                if answer.starts_with('4') {
                    sleep(REFUSED_PAUSE).await;
                }
                answers.count(answer);
            }
            answers
        });
    }
    for client in clients.join_all().await {
        answers.add_all(client);
    }
    if answers.n(FULL) == 0 {
        answers.failures.push(format!("no request got {FULL}"));
    }
    answers
}

fn long_text() -> String {
    let text: String = "ਸ਼੍ਰੀ ਗੁਰੂ ਗ੍ਰੰਥ\n".chars().cycle().take(100).collect();
    json!({"text": text, "with-image": true, "page-width": 950, "page-length": 300, "line-space": 150,
        "char-space": 50, "word-space": 100, "stroke-width": 8})
    .to_string()
}

fn writing(attacker: &Attacker, body: String) -> RequestBuilder {
    let request = attacker.request(Method::POST, "/v1/models/handwriting-generator", &attacker.key);
    request.header("content-type", "application/json").body(body)
}
