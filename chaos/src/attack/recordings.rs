//! Very many recordings, very long ones, and recordings whose senders disconnect.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use akhar_tests::{Form, http, speech};
use rand::RngExt as _;
use reqwest::{Method, RequestBuilder};
use tokio::{io::AsyncWriteExt as _, sync::Semaphore, task::JoinSet};

use super::attacker::{Answers, Attacker, answer_to, flood};

/// Recordings that are sent at the same time.
const N_UPLOADS: usize = 1000;
/// Asynchronous jobs of one account; more than a queue takes.
const N_ACCEPTED: usize = 1012;
/// Those of them that are sent at the same time, and requests that are sent again and again.
const N_SENDERS: usize = 32;
/// The bytes of a file of which an api does not read everything.
const N_TOO_LARGE: usize = 20_000_000;
/// Recordings of an hour that are sent at the same time.
const N_LONG: usize = 10;
/// How often a fixture of 1.9 s is repeated to make one of them: 59 minutes, 14 MB.
const N_COPIES: usize = 1900;
/// Damaged recordings that are sent at the same time.
const N_BROKEN: usize = 8;
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
pub(super) async fn uploads(attacker: &Attacker, end: Instant) -> Answers {
    let request = attacker.post("speech-recognition", &Form::upload(&largest()));
    flood(N_UPLOADS, end, |_| {
        let left = end.saturating_duration_since(Instant::now());
        request.try_clone().expect("bytes").timeout(left)
    })
    .await
}

/// Asynchronous recordings, more than a queue takes, from one account. The attacker cancels them at the end.
pub(super) async fn one_account(attacker: &Attacker, end: Instant) -> Answers {
    let form = Form::upload(&speech::wav(&speech::noise(20)));
    asynchronous(attacker, attacker.post("speech-recognition", &form), N_ACCEPTED, N_SENDERS, end).await
}

/// Ten recordings of an hour that nobody waits for, sent one after another. The attacker cancels them at the end.
pub(super) async fn long_asynchronous(attacker: &Attacker, end: Instant) -> Answers {
    asynchronous(attacker, hour(attacker), N_LONG, 1, end).await
}

/// Sends a request `n` times that nobody waits for, some at the same time, and cancels the jobs at the end.
async fn asynchronous(
    attacker: &Attacker,
    request: RequestBuilder,
    n: usize,
    n_at_once: usize,
    end: Instant,
) -> Answers {
    let request = request.header("prefer", "respond-async");
    let places = Arc::new(Semaphore::new(n_at_once));
    let mut sent = JoinSet::new();
    for _ in 0..n {
        let place = Arc::clone(&places).acquire_owned().await.expect("the semaphore is never closed");
        let request = request.try_clone().expect("bytes");
        sent.spawn(async move {
            let answer = http::try_send(request).await.ok();
            drop(place);
            answer
        });
    }
    let mut answers = Answers::default();
    let accepted = sent.join_all().await;
    tokio::time::sleep_until(end.into()).await;
    for answer in accepted {
        answers.count(answer.as_ref().map_or("no answer".to_owned(), |answer| answer.status.to_string()));
        if let Some(accepted) = answer.filter(|answer| answer.status == 202) {
            answer_to(attacker.request(Method::DELETE, accepted.header("location"), &attacker.key)).await;
        }
    }
    answers
}

/// A recording of an hour, as OpenAI's clients send it.
fn hour(attacker: &Attacker) -> RequestBuilder {
    let recording = speech::recording("pa-water.mp3").bytes.repeat(N_COPIES);
    let form = Form::upload_and(&recording, "model", "speech-pa");
    form.send_with(attacker.request(Method::POST, "/v1/audio/transcriptions", &attacker.key))
}

/// Recordings beyond the share of the account, and files that are too large to be read, again and again through the load
/// balancer at `base`. The attacker cancels the jobs at the end.
pub(super) async fn refusals(attacker: &Attacker, base: &str, end: Instant) -> Answers {
    let behind = attacker.through(base);
    let clip = Form::upload(&speech::wav(&speech::noise(20)));
    let recording = behind.post("speech-recognition", &clip).header("prefer", "respond-async");
    let recording = recording.header("akhar-group", "refusals");
    let too_large = behind.post("speech-recognition", &Form::upload(&vec![0; N_TOO_LARGE]));
    let answers = flood(N_SENDERS, end, |nth| {
        let request = if nth % N_SENDERS == 0 { &too_large } else { &recording };
        request.try_clone().expect("bytes")
    })
    .await;
    answer_to(attacker.request(Method::DELETE, "/v1/groups/refusals", &attacker.key)).await;
    answers
}

/// Recordings of an hour, all at once from one account. Those that are refused are sent again at
/// once. The attacker cancels the jobs at the end, because workers finish those that have started.
pub(super) async fn long(attacker: &Attacker, end: Instant) -> Answers {
    let request = hour(attacker);
    let answers = flood(N_LONG, end, |_| {
        let left = end.saturating_duration_since(Instant::now());
        request.try_clone().expect("bytes").timeout(left)
    })
    .await;
    let list = attacker.request(Method::GET, "/v1/jobs?limit=100", &attacker.key);
    let jobs = http::try_send(list).await.map(|answer| answer.json()["jobs"].clone()).unwrap_or_default();
    for id in jobs.as_array().into_iter().flatten().filter_map(|job| job["id"].as_str()) {
        let path = format!("/v1/jobs/{id}");
        answer_to(attacker.request(Method::DELETE, &path, &attacker.key)).await;
    }
    answers
}

/// Recordings that are sent whole, and whose senders disconnect at once or some milliseconds later.
pub(super) async fn hang_ups(attacker: &Attacker, end: Instant) -> Answers {
    let mut answers = Answers::default();
    let (short, long) = (request(attacker, &speech::noise(1)), request(attacker, &speech::noise(60)));
    while Instant::now() < end {
        let mut connections = JoinSet::new();
        for nth in 0..N_HANG_UPS {
            let Some(mut stream) = attacker.connect().await else {
                answers.count("no connection");
                continue;
            };
            let bytes = if nth.is_multiple_of(5) { long.clone() } else { short.clone() };
            connections.spawn(async move {
                let answer = stream.write_all(&bytes).await.map_or("refused", |()| "disconnected");
                let pause = rand::rng().random_range(0..4);
                tokio::time::sleep(Duration::from_millis(pause)).await;
                answer
            });
        }
        answers.count_all(&mut connections).await;
    }
    answers
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
pub(super) async fn broken(attacker: &Attacker, end: Instant) -> Answers {
    let recordings = speech::recordings();
    let request = |nth: usize| {
        let mut bytes = recordings[nth % recordings.len()].bytes.clone();
        for _ in 0..8 {
            let at = rand::rng().random_range(0..bytes.len().min(4096));
            bytes[at] = rand::random();
        }
        bytes.truncate(rand::rng().random_range(0..bytes.len()));
        attacker.post("speech-recognition", &Form::upload(&bytes))
    };
    flood(N_BROKEN, end, request).await
}
