//! Very many recordings, and recordings whose senders disconnect.

use std::time::{Duration, Instant};

use akhar_tests::{Form, http, speech};
use rand::RngExt as _;
use tokio::{io::AsyncWriteExt as _, task::JoinSet};

use super::attacker::{Attacker, Outcome, answer_to};

/// Recordings that are sent at the same time.
const N_UPLOADS: usize = 1000;
/// Asynchronous jobs of one account; more than a queue takes.
const N_ACCEPTED: usize = 1012;
/// Clients that send and disconnect, again and again.
const N_HANG_UPS: usize = 50;

/// The largest recording that a request may have: 65 s of noise.
fn largest() -> Vec<u8> {
    let mut samples = speech::noise(65);
    samples.truncate((2 * 1024 * 1024 - 44) / 2);
    speech::wav(&samples)
}

/// 1,000 recordings of 2 MiB at once. Those that are refused are sent again at once. The callers that still
/// wait at the end disconnect.
pub(super) async fn uploads(attacker: &Attacker, end: Instant) -> Outcome {
    let form = Form::upload(&largest());
    let request = attacker.post("speech-recognition", &form);
    let mut clients = JoinSet::new();
    for _ in 0..N_UPLOADS {
        let request = request.try_clone().expect("bytes");
        clients.spawn(async move {
            let mut outcome = Outcome::default();
            while Instant::now() < end {
                let sent = answer_to(request.try_clone().expect("bytes"));
                let answered = tokio::time::timeout_at(end.into(), sent).await;
                outcome.count(answered.unwrap_or_else(|_| "still waiting".to_owned()));
            }
            outcome
        });
    }
    Outcome::of_all(clients).await
}

/// Asynchronous recordings, more than a queue takes, from one account. The attacker cancels them at the end.
pub(super) async fn one_account(attacker: &Attacker, end: Instant) -> Outcome {
    let form = Form::upload(&speech::wav(&speech::noise(20)));
    let mut outcome = Outcome::default();
    let mut accepted = Vec::new();
    let mut sent = JoinSet::new();
    for _ in 0..N_ACCEPTED {
        let request = attacker.post("speech-recognition", &form).header("prefer", "respond-async");
        sent.spawn(async move {
            let response = request.send().await.ok()?;
            let location = response.headers().get("location").and_then(|l| Some(l.to_str().ok()?.to_owned()));
            Some((response.status().as_u16(), location))
        });
        while sent.len() >= 32 {
            take(sent.join_next().await, &mut outcome, &mut accepted);
        }
    }
    while let Some(one) = sent.join_next().await {
        take(Some(one), &mut outcome, &mut accepted);
    }
    tokio::time::sleep_until(end.into()).await;
    for location in accepted {
        let cancel = attacker.request(reqwest::Method::DELETE, &location, &attacker.key);
        drop(cancel.send().await);
    }
    outcome
}

type Accepted = Option<(u16, Option<String>)>;

fn take(
    one: Option<Result<Accepted, tokio::task::JoinError>>,
    outcome: &mut Outcome,
    accepted: &mut Vec<String>,
) {
    match one.and_then(Result::ok).flatten() {
        Some((status, location)) => {
            outcome.count(status.to_string());
            accepted.extend(location.filter(|_| status == 202));
        }
        None => outcome.count("no answer"),
    }
}

/// Recordings that are sent whole, and whose senders disconnect at once or some milliseconds later.
pub(super) async fn hang_ups(attacker: &Attacker, end: Instant) -> Outcome {
    let mut outcome = Outcome::default();
    let (short, long) = (request(attacker, &speech::noise(1)), request(attacker, &speech::noise(60)));
    while Instant::now() < end {
        let mut connections = JoinSet::new();
        for nth in 0..N_HANG_UPS {
            let Some(mut stream) = attacker.connect().await else {
                outcome.count("no connection");
                continue;
            };
            let bytes = if nth.is_multiple_of(5) { long.clone() } else { short.clone() };
            connections.spawn(async move {
                let sent = stream.write_all(&bytes).await.is_ok();
                let pause = rand::rng().random_range(0..4);
                tokio::time::sleep(Duration::from_millis(pause)).await;
                sent
            });
        }
        while let Some(sent) = connections.join_next().await {
            outcome.count(if sent.unwrap_or(false) { "disconnected" } else { "refused" });
        }
    }
    outcome
}

/// The bytes of a whole request with a recording.
fn request(attacker: &Attacker, samples: &[i16]) -> Vec<u8> {
    let form = Form::upload(&speech::wav(samples));
    let (body, kind) = (form.body(), form.content_type());
    let length = body.len().to_string();
    let headers = [("content-type", kind.as_str()), ("content-length", &length)];
    let head = http::head("POST", "/v1/models/speech-recognition", &attacker.key, &headers);
    [head, body].concat()
}

/// Fixtures of speech with damaged bytes, and cut fixtures.
pub(super) async fn broken(attacker: &Attacker, end: Instant) -> Outcome {
    let mut clients = JoinSet::new();
    for client in 0..8 {
        let template = attacker.post("speech-recognition", &Form::upload(&[]));
        clients.spawn(async move {
            let recordings = speech::recordings();
            let (mut outcome, mut nth) = (Outcome::default(), client);
            while Instant::now() < end {
                let mut bytes = recordings[nth % recordings.len()].bytes.clone();
                for _ in 0..8 {
                    let at = rand::rng().random_range(0..bytes.len().min(4096));
                    bytes[at] = rand::random();
                }
                bytes.truncate(rand::rng().random_range(0..bytes.len()));
                let request = template.try_clone().expect("bytes").body(Form::upload(&bytes).body());
                outcome.count(answer_to(request).await);
                nth += 1;
            }
            outcome
        });
    }
    Outcome::of_all(clients).await
}
