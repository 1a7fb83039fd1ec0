//! Sessions of live transcription whose sound is appended as the api does it.

use akhar_jobs::{
    JobId, NewJob,
    store::{self, Appended, InputPart, NewPart, OutputsSeen, StreamCursor},
};
use akhar_platform::database::Pool;
use akhar_requests::{
    Parameters,
    live::{LiveEvent, LiveMark, LiveParameters, SoundFormat},
};
use serde_json::{Value, json};
use sqlx::PgConnection;

use crate::{
    Stack,
    queue::{new_job, submit},
    speech::RATE,
    until,
};

/// The samples of a part of the input: 0.2 s at 16 kHz.
pub const PART: usize = RATE / 5;

/// The pause that ends an utterance, milliseconds.
const SILENCE_MS: u64 = 500;

/// A session.
#[derive(Debug)]
pub struct Session {
    /// Its database.
    pub db: Pool,
    /// Its job.
    pub job: JobId,
    n_parts: i64,
    n_bytes: i64,
}

impl Session {
    /// Begins a session with turn detection.
    pub async fn start(stack: &Stack, lang: &str) -> Self {
        let turns = json!({"silence_ms": SILENCE_MS, "prefix_ms": 300, "threshold": 0.5});
        Self::start_as(stack, json!({"lang": lang, "turn_detection": turns})).await
    }

    /// Begins this session.
    pub async fn start_as(stack: &Stack, session: Value) -> Self {
        let session = serde_json::from_value(session).expect("a session");
        let parameters = LiveParameters { format: SoundFormat::Pcm16000, session, shown: Value::Null };
        let work = Parameters::LiveTranscription(parameters).work().expect("JSON");
        let job = NewJob { work, asynchronous: false, ..new_job() };
        submit(&stack.db, &[&job]).await.expect("it is submitted");
        Self { db: stack.db.clone(), job: job.id, n_parts: 0, n_bytes: 0 }
    }

    /// Appends a part, also while Postgres starts again.
    pub async fn append(&mut self, samples: &[i16], mark: Option<LiveMark>) {
        self.n_parts += 1;
        let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
        let mark = mark.map(|mark| serde_json::to_value(mark).expect("JSON"));
        self.n_bytes += i64::try_from(bytes.len()).expect("few bytes");
        let part = InputPart { job: self.job, n: self.n_parts, bytes: bytes.into(), mark };
        let part = NewPart { part, end: self.n_bytes, writer: 0 };
        let appended = until("the part is on disk", async || {
            let parts = [part.clone()];
            self.db.with(async |db: &mut PgConnection| store::append(db, &parts).await).await.ok()
        });
        assert_eq!(appended.await, [Appended::Stored]);
    }

    /// What is new since so many events. `None` while Postgres starts.
    pub async fn seen(&self, after: i64) -> Option<OutputsSeen> {
        let cursor = [StreamCursor { job: self.job, after }];
        let seen = self.db.with(async |db: &mut PgConnection| store::follow_outputs(db, &cursor).await).await;
        Some(seen.ok()?.pop().flatten().expect("the job is there"))
    }

    /// All that it has said. `None` while Postgres starts.
    pub async fn said(&self) -> Option<Vec<LiveEvent>> {
        Some(events(self.seen(0).await?))
    }
}

/// The events that were seen.
pub fn events(seen: OutputsSeen) -> Vec<LiveEvent> {
    seen.events.into_iter().map(|event| serde_json::from_value(event).expect("an event")).collect()
}
