//! The requests of a caller that does nothing wrong, sent while others attack.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use akhar_tests::{
    Form, Stack,
    figures::{Row, count, response_times},
    images::fixture_of,
    load::{Sample, closed_loop, measure, n_good, open_loop, statuses},
    speech,
};
use reqwest::RequestBuilder;
use serde_json::json;

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

/// An innocent caller with its own key.
#[derive(Debug)]
pub(super) struct Innocents {
    digit: RequestBuilder,
    letter: RequestBuilder,
    writing: RequestBuilder,
    recordings: [RequestBuilder; 2],
}

/// The measurements beside one attack.
#[derive(Debug)]
pub(super) struct Samples {
    quick: Vec<Sample>,
    speech: Vec<Sample>,
}

impl Innocents {
    /// Makes the requests, with a new account.
    pub(super) async fn new(stack: &Stack) -> Self {
        let key = stack.keys(&["create", "--name", "innocent"]).await;
        let picture = |label: &str| {
            let fixture = fixture_of(label);
            stack.post_as(&key, fixture.operation, &Form::upload(&fixture.bytes))
        };
        let recording = |name: &str| {
            let recording = speech::recording(name);
            let form = Form::upload_and(&recording.bytes, "lang", recording.lang);
            stack.post_as(&key, "speech-recognition", &form)
        };
        let writing = stack.anonymous("POST", "/v1/models/handwriting-generator").bearer_auth(&key);
        Self {
            digit: picture("੫"),
            letter: picture("ਕ"),
            writing: writing.json(&json!({"text": "ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ", "with-image": false})),
            recordings: ["pa-school.wav", "en-weather.wav"].map(recording),
        }
    }

    /// Sends some requests of each kind, so that the service has used all its models, and then many pictures.
    pub(super) async fn warm_up(&self) {
        let [pa, en] = &self.recordings;
        for request in [&self.digit, &self.letter, &self.writing, pa, en] {
            for _ in 0..N_WARM_UP {
                assert!(measure(request).await.is_good(), "a request of the warm-up");
            }
        }
        let history = closed_loop(&self.digit, N_CLIENTS, Instant::now() + HISTORY).await;
        assert!(history.iter().all(Sample::is_good), "a request of the history");
    }

    /// Sends requests until `end`, and waits for their answers.
    pub(super) async fn until(&self, end: Instant) -> Samples {
        let third = QUICK_RATE / 3.0;
        let (digits, letters, writings, speech) = tokio::join!(
            open_loop(&self.digit, third, end),
            open_loop(&self.letter, third, end),
            open_loop(&self.writing, third, end),
            open_loop(&self.recordings[0], SPEECH_RATE, end),
        );
        Samples { quick: [digits, letters, writings].concat(), speech }
    }
}

impl Samples {
    /// The number of requests without a 200.
    pub(super) fn n_bad(&self) -> usize {
        self.quick.len() + self.speech.len() - n_good(&self.quick) - n_good(&self.speech)
    }

    /// The number of requests of all kinds with each status.
    pub(super) fn statuses(&self) -> BTreeMap<u16, usize> {
        statuses(&[&self.quick[..], &self.speech].concat())
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
}
