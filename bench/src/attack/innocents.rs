//! The requests of a caller that does nothing wrong, sent while others attack.

use std::time::{Duration, Instant};

use akhar_tests::{Form, Stack, images::fixture_of, speech};
use serde_json::json;

use crate::{
    clients::{Sample, open_loop, send},
    report::{count, quantiles},
};

/// Pictures and texts a second.
const QUICK_RATE: f64 = 10.0;
/// Recordings a second.
const SPEECH_RATE: f64 = 0.5;
/// The number of requests of each kind before the attacks.
const N_WARM_UP: usize = 20;

/// An innocent caller with its own key.
#[derive(Debug)]
pub(super) struct Innocents {
    digit: reqwest::RequestBuilder,
    letter: reqwest::RequestBuilder,
    writing: reqwest::RequestBuilder,
    recordings: [reqwest::RequestBuilder; 2],
}

/// The measurements of one attack.
#[derive(Debug)]
pub(super) struct Seen {
    quick: Vec<Sample>,
    speech: Vec<Sample>,
}

impl Innocents {
    /// Makes the requests, with a new account.
    pub(super) async fn new(stack: &Stack) -> Self {
        let key = stack.keys(&["create", "--name", "innocent"]).await;
        let with_key = |request: reqwest::RequestBuilder| {
            let (client, request) = request.build_split();
            let mut request = request.expect("a request");
            let value = format!("Bearer {key}").parse().expect("a header");
            request.headers_mut().insert("authorization", value);
            reqwest::RequestBuilder::from_parts(client, request)
        };
        let post = |operation: &str, form: &Form| with_key(stack.post(operation, form));
        let picture = |label: &str| {
            let fixture = fixture_of(label);
            post(fixture.operation, &Form::upload(&fixture.bytes))
        };
        let text = json!({"text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", "with-image": false});
        let recording = |name: &str| {
            let recording = speech::recording(name);
            post("speech-recognition", &Form::upload_and(&recording.bytes, "lang", recording.lang))
        };
        Self {
            digit: picture("੫"),
            letter: picture("ਕ"),
            writing: with_key(stack.request("POST", "/v1/models/handwriting-generator").json(&text)),
            recordings: ["pa-school.wav", "en-weather.wav"].map(recording),
        }
    }

    /// Sends some requests of each kind, so that the service has used all its models.
    pub(super) async fn warm_up(&self) {
        let [pa, en] = &self.recordings;
        for request in [&self.digit, &self.letter, &self.writing, pa, en] {
            for _ in 0..N_WARM_UP {
                let status = send(request.try_clone().expect("bytes")).await.status;
                assert_eq!(status, Some(200), "a request of the warm-up");
            }
        }
    }

    /// Sends requests until `end`, and waits for their answers.
    pub(super) async fn until(&self, end: Instant) -> Seen {
        let third = QUICK_RATE / 3.0;
        let (digits, letters, writings, speech) = tokio::join!(
            open_loop(&self.digit, third, end),
            open_loop(&self.letter, third, end),
            open_loop(&self.writing, third, end),
            open_loop(&self.recordings[0], SPEECH_RATE, end),
        );
        Seen { quick: [digits, letters, writings].concat(), speech }
    }
}

impl Seen {
    /// The number of requests without a 200.
    pub(super) fn n_bad(&self) -> usize {
        self.quick.iter().chain(&self.speech).filter(|s| s.status != Some(200)).count()
    }

    /// The 99th percentile of the response times of pictures and texts.
    pub(super) fn p99(&self) -> Duration {
        let row = quantiles(&times(&self.quick));
        Duration::from_secs_f64(crate::report::number(&row, "p99_ms").max(0.0) / 1e3)
    }

    /// The response times of pictures and texts, and the requests of all kinds without a 200.
    pub(super) fn row(&self) -> Vec<(&'static str, f64)> {
        let mut row = quantiles(&times(&self.quick));
        row.push(("bad", count(self.n_bad())));
        row
    }

    /// The response times of recordings.
    pub(super) fn speech_row(&self) -> Vec<(&'static str, f64)> {
        quantiles(&times(&self.speech))
    }
}

fn times(samples: &[Sample]) -> Vec<Duration> {
    samples.iter().map(|s| s.took).collect()
}
