//! Clients: where to send comes in; how each request fared comes out.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use akhar_tests::{Answer, http::try_send};
use tokio::task::JoinSet;

/// One request's fate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fate {
    /// Its status; none when there was no answer.
    pub(crate) status: Option<u16>,
    /// From the first byte sent to the last received.
    pub(crate) took: Duration,
    /// Of that, decoding and inference as `Server-Timing` tells it.
    pub(crate) work: Option<Duration>,
}

impl Fate {
    /// What is neither decoding nor inference, for an answer that tells.
    pub(crate) fn overhead(&self) -> Option<Duration> {
        Some(self.took.saturating_sub(self.work?))
    }
}

/// Sends a request and watches the clock.
pub(crate) async fn send(request: reqwest::RequestBuilder) -> Fate {
    let started = Instant::now();
    let answer = try_send(request).await;
    let took = started.elapsed();
    match answer {
        Ok(answer) => Fate { status: Some(answer.status), took, work: work(&answer) },
        Err(_) => Fate { status: None, took, work: None },
    }
}

/// Decoding and inference as `Server-Timing` tells them.
pub(crate) fn work(answer: &Answer) -> Option<Duration> {
    let entries = answer.header("server-timing").split(',').map(str::trim);
    let worked = entries.filter(|e| e.starts_with("decode;") || e.starts_with("infer;"));
    let ms: Option<Vec<f64>> = worked.map(|e| e.split_once("dur=")?.1.parse().ok()).collect();
    let ms = ms.filter(|parts| parts.len() == 2)?;
    Some(Duration::from_secs_f64(ms.iter().sum::<f64>() / 1e3))
}

/// `n` clients, each sending its next request when the last is answered, until `end`.
pub(crate) async fn closed_loop(request: &reqwest::RequestBuilder, n: usize, end: Instant) -> Vec<Fate> {
    let mut clients = JoinSet::new();
    for _ in 0..n {
        let request = request.try_clone().expect("bytes");
        clients.spawn(async move {
            let mut fates = Vec::new();
            while Instant::now() < end {
                fates.push(send(request.try_clone().expect("bytes")).await);
            }
            fates
        });
    }
    clients.join_all().await.into_iter().flatten().collect()
}

/// Requests at random times, `rate` a second on average (exponential gaps), until `end`, whether or not
/// earlier ones are answered.
pub(crate) async fn open_loop(request: &reqwest::RequestBuilder, rate: f64, end: Instant) -> Vec<Fate> {
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

/// How many of each status; 0 stands for no answer.
pub(crate) fn statuses(fates: &[Fate]) -> BTreeMap<u16, usize> {
    let mut counts = BTreeMap::new();
    for fate in fates {
        *counts.entry(fate.status.unwrap_or(0)).or_default() += 1;
    }
    counts
}
