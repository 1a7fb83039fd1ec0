//! Other callers, while a folder is transcribed: one sends a digit every second, another one a recording now and then.

use std::time::Duration;

use akhar_tests::{Form, Stack, images::fixture_of, speech};
use reqwest::RequestBuilder;
use sqlx::PgPool;
use tokio::{sync::oneshot, task::JoinHandle, time::interval};

use crate::clients::{Sample, send};

/// The time between two digits.
const DIGIT_INTERVAL: Duration = Duration::from_secs(1);
/// The time between two recordings.
const CLIP_INTERVAL: Duration = Duration::from_secs(15);

/// A caller that sends requests until it is stopped.
#[derive(Debug)]
pub(super) struct Caller {
    stop: oneshot::Sender<()>,
    sent: JoinHandle<Vec<Sample>>,
}

impl Caller {
    /// Sends a picture of a digit every second.
    pub(super) fn of_digits(stack: &Stack) -> Self {
        let picture = fixture_of("੫");
        Self::start(stack.post(picture.operation, &Form::upload(&picture.bytes)), DIGIT_INTERVAL)
    }

    /// Submits a recording every 15 seconds, with a key of its own, and does not wait for the result.
    pub(super) fn of_clips(stack: &Stack, key: &str) -> Self {
        let recording = speech::recording("pa-school.wav");
        let request = stack.post("speech-recognition", &Form::upload(&recording.bytes));
        Self::start(with_key(request.header("prefer", "respond-async"), key), CLIP_INTERVAL)
    }

    fn start(request: RequestBuilder, every: Duration) -> Self {
        let (stop, mut stopped) = oneshot::channel();
        let sent = tokio::spawn(async move {
            let mut samples = Vec::new();
            let mut ticks = interval(every);
            loop {
                tokio::select! {
                    biased;
                    _ = &mut stopped => return samples,
                    _ = ticks.tick() => samples.push(send(request.try_clone().expect("bytes")).await),
                }
            }
        });
        Self { stop, sent }
    }

    /// Stops. Returns the measurements of all requests.
    pub(super) async fn stop(self) -> Vec<Sample> {
        self.stop.send(()).expect("it still runs");
        self.sent.await.expect("a caller does not panic")
    }
}

/// The same request with another key.
fn with_key(request: RequestBuilder, key: &str) -> RequestBuilder {
    let (client, request) = request.build_split();
    let mut request = request.expect("a request");
    let value = format!("Bearer {key}").parse().expect("a header");
    request.headers_mut().insert("authorization", value);
    RequestBuilder::from_parts(client, request)
}

/// How long each job of an account waited for its first start, in the order of submission.
pub(super) async fn waits(db: &PgPool, account: &str) -> Vec<Duration> {
    let statement = "select extract(epoch from min(s.at) - j.created_at)::float8
        from jobs j join starts s on s.job_id = j.id
        where j.account_id = (select id from accounts where name = $1) group by j.id, j.created_at order by j.created_at";
    let waits: Vec<f64> = sqlx::query_scalar(statement).bind(account).fetch_all(db).await.expect("the waits");
    waits.into_iter().map(|s| Duration::from_secs_f64(s.max(0.0))).collect()
}
