//! The requests of a caller that does nothing wrong, sent while others attack.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use akhar_tests::{
    Form, Stack,
    figures::{Row, count, response_times},
    http,
    images::fixture_of,
    load::{Sample, Sent, closed_loop, measure, n_good, open_loop_with, statuses},
    speech,
};
use reqwest::RequestBuilder;
use serde_json::{Value, json};
use tokio::{runtime, task::spawn_blocking, time::interval};

/// Pictures and texts a second.
const QUICK_RATE: f64 = 10.0;
/// Recordings a second.
const SPEECH_RATE: f64 = 0.5;
/// The number of requests of each kind before the attacks.
const N_WARM_UP: usize = 20;
/// How long the caller sends many pictures before the attacks, so that its account has a history.
const HISTORY: Duration = Duration::from_secs(10);
/// Clients that send them.
const N_CLIENTS: usize = 8;

/// What an answer does not have. Strokes are never the same.
const NOWHERE: &str = "/nowhere";

/// An innocent caller with its own key.
#[derive(Debug)]
pub(super) struct Innocents {
    pub(super) key: String,
    digit: Asked,
    letter: Asked,
    writing: Asked,
    recordings: [Asked; 2],
    /// Those of callers whose keys no process has seen yet.
    pub(super) newcomers: Vec<RequestBuilder>,
}

/// A request and its right answer.
#[derive(Debug)]
struct Asked {
    request: RequestBuilder,
    /// Where the answer has what never changes.
    at: &'static str,
    /// What it has there.
    right: Option<Value>,
}

/// A request that was measured, and whether its answer was another one than the right one.
type Judged = (Sample, bool);

/// The measurements beside one attack.
#[derive(Debug)]
pub(super) struct Samples {
    quick: Vec<Sample>,
    speech: Vec<Sample>,
    newcomers: Vec<Sample>,
    /// Answers with 200 that say something else than they must.
    pub(super) n_wrong: usize,
}

impl Innocents {
    /// Makes the requests, with a new account, and sends each once.
    pub(super) async fn new(stack: &Stack) -> Self {
        let key = stack.keys(&["create", "--name", "innocent"]).await;
        let picture = |label: &str| {
            let fixture = fixture_of(label);
            Asked::new(
                stack.post_as(&key, fixture.operation, &Form::upload(&fixture.bytes)),
                "/predictions/0/label",
            )
        };
        let recording = |name: &str| {
            let recording = speech::recording(name);
            let form = Form::upload_and(&recording.bytes, "lang", recording.lang);
            Asked::new(stack.post_as(&key, "speech-recognition", &form), "/transcription")
        };
        let writing = stack.anonymous("POST", "/v1/models/handwriting-generator").bearer_auth(&key);
        let writing = writing.json(&json!({"text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", "with-image": false}));
        Self {
            digit: picture("੫").await,
            letter: picture("ਕ").await,
            writing: Asked::new(writing, NOWHERE).await,
            recordings: [recording("pa-school.wav").await, recording("en-weather.wav").await],
            newcomers: Vec::new(),
            key,
        }
    }

    /// Makes this many accounts, whose keys no process has seen yet. Each sends one picture during the next attack.
    pub(super) async fn add_newcomers(&mut self, stack: &Stack, n: usize) {
        let fixture = fixture_of("੫");
        let form = Form::upload(&fixture.bytes);
        self.newcomers.clear();
        for _ in 0..n {
            let key = stack.keys(&["create", "--name", "newcomer"]).await;
            self.newcomers.push(stack.post_as(&key, fixture.operation, &form));
        }
    }

    /// Sends some requests of each kind, so that the service has used all its models, and then many pictures.
    pub(super) async fn warm_up(&self) {
        let [pa, en] = &self.recordings;
        for asked in [&self.digit, &self.letter, &self.writing, pa, en] {
            for _ in 0..N_WARM_UP {
                assert!(measure(&asked.request).await.is_good(), "a request of the warm-up");
            }
        }
        let history = closed_loop(&self.digit.request, N_CLIENTS, Instant::now() + HISTORY).await;
        assert!(history.iter().all(Sample::is_good), "a request of the history");
    }

    /// Sends requests until `end`, and waits for their answers. They have a thread and connections of their own, so that they do not
    /// wait for those of the attacker, which are in the same process.
    pub(super) async fn until(&self, end: Instant) -> Samples {
        let innocents = self.with_client(&http::client());
        let send = move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(innocents.send_until(end))
        };
        spawn_blocking(send).await.expect("innocent requests do not panic")
    }

    /// The same requests, sent by this client.
    fn with_client(&self, client: &reqwest::Client) -> Self {
        let asked = |asked: &Asked| Asked {
            request: with_client(client, &asked.request),
            at: asked.at,
            right: asked.right.clone(),
        };
        Self {
            key: self.key.clone(),
            digit: asked(&self.digit),
            letter: asked(&self.letter),
            writing: asked(&self.writing),
            recordings: self.recordings.each_ref().map(asked),
            newcomers: self.newcomers.iter().map(|request| with_client(client, request)).collect(),
        }
    }

    async fn send_until(&self, end: Instant) -> Samples {
        let third = QUICK_RATE / 3.0;
        let (digits, letters, writings, speech, newcomers) = tokio::join!(
            self.digit.ask(third, end),
            self.letter.ask(third, end),
            self.writing.ask(third, end),
            self.recordings[0].ask(SPEECH_RATE, end),
            self.newcomers(end),
        );
        let quick = [digits, letters, writings].concat();
        let n_wrong = quick.iter().chain(&speech).filter(|(_, is_wrong)| *is_wrong).count();
        let samples = |judged: Vec<Judged>| judged.into_iter().map(|(sample, _)| sample).collect();
        Samples { quick: samples(quick), speech: samples(speech), newcomers, n_wrong }
    }

    /// The requests of the newcomers, one after another until `end`.
    async fn newcomers(&self, end: Instant) -> Vec<Sample> {
        let Ok(n @ 1..) = u32::try_from(self.newcomers.len()) else { return Vec::new() };
        let mut ticks = interval(end.saturating_duration_since(Instant::now()) / n);
        let mut measured = Vec::new();
        for request in &self.newcomers {
            ticks.tick().await;
            measured.push(measure(request).await);
        }
        measured
    }
}

fn with_client(client: &reqwest::Client, request: &RequestBuilder) -> RequestBuilder {
    let request = request.try_clone().and_then(|request| request.build().ok());
    RequestBuilder::from_parts(client.clone(), request.expect("bytes"))
}

impl Asked {
    /// Sends the request once, to know its answer.
    async fn new(request: RequestBuilder, at: &'static str) -> Self {
        let answer = http::send(request.try_clone().expect("bytes")).await;
        let right = answer.json().pointer(at).cloned();
        assert_eq!((answer.status, right.is_none()), (200, at == NOWHERE), "{}", answer.text());
        Self { request, at, right }
    }

    async fn ask(&self, rate: f64, end: Instant) -> Vec<Judged> {
        let (at, right) = (self.at, self.right.clone());
        let judge = move |sent: Sent| {
            let answer = sent.answer.as_ref().ok().filter(|answer| answer.status == 200);
            let is_wrong = answer.is_some_and(|answer| answer.json().pointer(at) != right.as_ref());
            (Sample::from(sent), is_wrong)
        };
        open_loop_with(&self.request, rate, end, judge).await
    }
}

impl Samples {
    fn all(&self) -> Vec<Sample> {
        [&self.quick[..], &self.speech, &self.newcomers].concat()
    }

    /// The number of requests without a 200.
    pub(super) fn n_bad(&self) -> usize {
        let all = self.all();
        all.len() - n_good(&all)
    }

    /// The number of requests of all kinds with each status.
    pub(super) fn statuses(&self) -> BTreeMap<u16, usize> {
        statuses(&self.all())
    }

    /// The response times of pictures and texts, and the requests of all kinds without a 200.
    pub(super) fn row(&self) -> Row {
        let mut row = response_times(&self.quick);
        row.push(("bad", count(self.n_bad())));
        row
    }

    /// The response times of recordings.
    pub(super) fn speech_row(&self) -> Row {
        response_times(&self.speech)
    }

    /// The response times of newcomers, if there were any.
    pub(super) fn newcomers_row(&self) -> Option<Row> {
        (!self.newcomers.is_empty()).then(|| response_times(&self.newcomers))
    }
}
