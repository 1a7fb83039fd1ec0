//! Several clients at the same time, in a closed or an open loop, and what they measure.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use reqwest::RequestBuilder;
use tokio::{
    task::JoinSet,
    time::{Interval, interval, sleep_until},
};
use tokio_util::sync::CancellationToken;

use crate::{Answer, Form, Stack, http};

/// Clients, each of which sends its next request when the last one is answered. [`Load::stop`] returns their results.
#[derive(Debug)]
pub struct Load<T = Sent> {
    stop: CancellationToken,
    clients: JoinSet<Vec<T>>,
}

/// A request that was sent, and its answer.
#[derive(Debug)]
pub struct Sent {
    /// The time at which it was sent.
    pub at: Instant,
    /// The time until its answer.
    pub took: Duration,
    /// The answer, or the reason why there was none.
    pub answer: Result<Answer, String>,
}

/// The measurement of one request.
#[derive(Debug, Clone, Copy)]
pub struct Sample {
    /// The status; `None` if there was no answer.
    pub status: Option<u16>,
    /// The response time, from the first byte sent to the last byte received.
    pub took: Duration,
    /// The part of it that was decoding and inference, from `Server-Timing`.
    pub work: Option<Duration>,
}

impl Load {
    /// Starts `n` clients that send this image again and again.
    pub fn start(stack: &Stack, n: usize, operation: &'static str, image: &[u8]) -> Self {
        Self::repeat(&stack.post(operation, &Form::upload(image)), n)
    }

    /// Starts `n` clients that send this request again and again.
    pub fn repeat(request: &RequestBuilder, n: usize) -> Self {
        Self::with(request, n, None, |sent| sent)
    }
}

impl Load<Sample> {
    /// Starts `n` clients that measure this request again and again.
    pub fn measure(request: &RequestBuilder, n: usize) -> Self {
        Self::with(request, n, None, Sample::from)
    }

    /// Starts a client that measures this request once in every `pause`.
    pub fn measure_every(request: &RequestBuilder, pause: Duration) -> Self {
        Self::with(request, 1, Some(pause), Sample::from)
    }
}

impl<T: Send + 'static> Load<T> {
    fn with(request: &RequestBuilder, n: usize, pause: Option<Duration>, keep: fn(Sent) -> T) -> Self {
        let stop = CancellationToken::new();
        let mut clients = JoinSet::new();
        for _ in 0..n {
            clients.spawn(client(again(request), pause.map(interval), stop.clone(), keep));
        }
        Self { stop, clients }
    }

    /// Stops the clients, and waits for their last answers.
    pub async fn stop(self) -> Vec<T> {
        self.stop.cancel();
        self.clients.join_all().await.into_iter().flatten().collect()
    }
}

async fn client<T>(
    request: RequestBuilder,
    mut ticks: Option<Interval>,
    stop: CancellationToken,
    keep: fn(Sent) -> T,
) -> Vec<T> {
    let mut kept = Vec::new();
    while !stop.is_cancelled() {
        if let Some(ticks) = &mut ticks
            && stop.run_until_cancelled(ticks.tick()).await.is_none()
        {
            break;
        }
        let sent = send(again(&request)).await;
        let refused = sent.answer.is_err();
        kept.push(keep(sent));
        if refused {
            tokio::task::yield_now().await;
        }
    }
    kept
}

fn again(request: &RequestBuilder) -> RequestBuilder {
    request.try_clone().expect("a body of bytes can be sent again")
}

async fn send(request: RequestBuilder) -> Sent {
    let at = Instant::now();
    let answer = http::try_send(request).await.map_err(|error| format!("{error:?}"));
    Sent { at, took: at.elapsed(), answer }
}

/// Sends a request and measures it.
pub async fn measure(request: &RequestBuilder) -> Sample {
    send(again(request)).await.into()
}

/// A closed loop: until `end`, each of `n` clients sends its next request when the last one is answered.
pub async fn closed_loop(request: &RequestBuilder, n: usize, end: Instant) -> Vec<Sample> {
    let load = Load::measure(request, n);
    sleep_until(end.into()).await;
    load.stop().await
}

/// An open loop: until `end`, requests are sent at random times with exponential gaps, `rate` a second on
/// average. They do not wait for the answers to earlier requests.
pub async fn open_loop(request: &RequestBuilder, rate: f64, end: Instant) -> Vec<Sample> {
    open_loop_with(request, rate, end, Sample::from).await
}

/// The same, of which `keep` says what is kept of each request.
pub async fn open_loop_with<T: Send + 'static>(
    request: &RequestBuilder,
    rate: f64,
    end: Instant,
    keep: impl Fn(Sent) -> T + Clone + Send + Sync + 'static,
) -> Vec<T> {
    let mut sent = JoinSet::new();
    let mut next = Instant::now();
    loop {
        next += exponential(rand::random(), rate);
        if next >= end {
            return sent.join_all().await;
        }
        sleep_until(next.into()).await;
        let request = again(request);
        let keep = keep.clone();
        sent.spawn(async move { keep(send(request).await) });
    }
}

/// The time until the next of `rate` random events a second; `drawn` is from 0 to 1, without 1.
pub fn exponential(drawn: f64, rate: f64) -> Duration {
    Duration::from_secs_f64(-(1.0 - drawn).ln() / rate)
}

impl Sample {
    /// Whether the answer was 200.
    pub fn is_good(&self) -> bool {
        self.status == Some(200)
    }

    /// The response time without decoding and inference. `None` if the answer has no `Server-Timing`.
    pub fn overhead(&self) -> Option<Duration> {
        Some(self.took.saturating_sub(self.work?))
    }
}

impl From<Sent> for Sample {
    fn from(sent: Sent) -> Self {
        let answer = sent.answer.as_ref().ok();
        Self { status: answer.map(|answer| answer.status), took: sent.took, work: answer.and_then(work) }
    }
}

/// The time of decoding and inference in an answer's `Server-Timing`. `None` if one of the two is missing.
pub fn work(answer: &Answer) -> Option<Duration> {
    let entries = answer.header("server-timing").split(',').map(str::trim);
    let worked = entries.filter(|e| e.starts_with("decode;") || e.starts_with("infer;"));
    let ms: Option<Vec<f64>> = worked.map(|e| e.split_once("dur=")?.1.parse().ok()).collect();
    let ms = ms.filter(|parts| parts.len() == 2)?;
    Some(Duration::from_secs_f64(ms.iter().sum::<f64>() / 1e3))
}

/// The number of answers with 200.
pub fn n_good(samples: &[Sample]) -> usize {
    samples.iter().filter(|sample| sample.is_good()).count()
}

/// The number of requests with each status. 0 stands for no answer.
pub fn statuses(samples: &[Sample]) -> BTreeMap<u16, usize> {
    let mut counts = BTreeMap::new();
    for sample in samples {
        *counts.entry(sample.status.unwrap_or(0)).or_default() += 1;
    }
    counts
}
