//! Clients that send requests in a closed or an open loop, and measure each request.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use akhar_tests::{Answer, http::try_send};
use tokio::task::JoinSet;

/// The measurement of one request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    /// The status; `None` if there was no answer.
    pub(crate) status: Option<u16>,
    /// The response time, from the first byte sent to the last byte received.
    pub(crate) took: Duration,
    /// The part of it that was decoding and inference, from `Server-Timing`.
    pub(crate) work: Option<Duration>,
}

impl Sample {
    /// The response time without decoding and inference. `None` if the answer has no `Server-Timing`.
    pub(crate) fn overhead(&self) -> Option<Duration> {
        Some(self.took.saturating_sub(self.work?))
    }
}

/// Sends a request and measures its response time.
pub(crate) async fn send(request: reqwest::RequestBuilder) -> Sample {
    let started = Instant::now();
    let answer = try_send(request).await;
    let took = started.elapsed();
    match answer {
        Ok(answer) => Sample { status: Some(answer.status), took, work: work(&answer) },
        Err(_) => Sample { status: None, took, work: None },
    }
}

/// The time of decoding and inference in an answer's `Server-Timing`. `None` if one of the two is missing.
pub(crate) fn work(answer: &Answer) -> Option<Duration> {
    let entries = answer.header("server-timing").split(',').map(str::trim);
    let worked = entries.filter(|e| e.starts_with("decode;") || e.starts_with("infer;"));
    let ms: Option<Vec<f64>> = worked.map(|e| e.split_once("dur=")?.1.parse().ok()).collect();
    let ms = ms.filter(|parts| parts.len() == 2)?;
    Some(Duration::from_secs_f64(ms.iter().sum::<f64>() / 1e3))
}

/// A closed loop: until `end`, each of `n` clients sends its next request when the last one is answered.
pub(crate) async fn closed_loop(request: &reqwest::RequestBuilder, n: usize, end: Instant) -> Vec<Sample> {
    let mut clients = JoinSet::new();
    for _ in 0..n {
        let request = request.try_clone().expect("bytes");
        clients.spawn(async move {
            let mut samples = Vec::new();
            while Instant::now() < end {
                samples.push(send(request.try_clone().expect("bytes")).await);
            }
            samples
        });
    }
    clients.join_all().await.into_iter().flatten().collect()
}

/// An open loop: until `end`, requests are sent at random times with exponential gaps, `rate` a second on
/// average. They do not wait for the answers to earlier requests.
pub(crate) async fn open_loop(request: &reqwest::RequestBuilder, rate: f64, end: Instant) -> Vec<Sample> {
    let mut sent = JoinSet::new();
    let mut next = Instant::now();
    loop {
        next += Duration::from_secs_f64(-(1.0 - rand::random::<f64>()).ln() / rate);
        if next >= end {
            return sent.join_all().await;
        }
        tokio::time::sleep_until(next.into()).await;
        sent.spawn(send(request.try_clone().expect("bytes")));
    }
}

/// The number of requests with each status. 0 stands for no answer.
pub(crate) fn statuses(samples: &[Sample]) -> BTreeMap<u16, usize> {
    let mut counts = BTreeMap::new();
    for sample in samples {
        *counts.entry(sample.status.unwrap_or(0)).or_default() += 1;
    }
    counts
}
