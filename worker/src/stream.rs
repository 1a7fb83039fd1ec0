//! The stream of a claimed job: its input comes in while the job runs, and what the job says goes out.

use std::{sync::Arc, time::Duration};

use akhar_jobs::{
    Fence,
    backend::{BatchError, StreamFollower, StreamWakeups, StreamWorkers},
    store::{InputPart, Output, StreamCursor, StreamStart},
};
use akhar_platform::database::Pool;
use serde_json::Value;
use tokio::time::timeout;

/// An announcement can be lost, so a stream is read at least this often.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The streams of a worker process.
#[derive(Debug)]
pub(crate) struct Streams {
    workers: StreamWorkers,
    wakeups: Arc<StreamWakeups>,
}

/// The stream of one job. A statement is tried until the database answers: the attempt's time limit ends that.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    fence: Fence,
    workers: StreamWorkers,
    follower: StreamFollower,
}

impl Streams {
    pub(crate) fn start(db: &Pool, wakeups: Arc<StreamWakeups>) -> Self {
        Self { workers: StreamWorkers::start(db), wakeups }
    }

    pub(crate) fn of(&self, fence: Fence) -> Stream {
        Stream { fence, workers: self.workers.clone(), follower: self.wakeups.follow(fence.job) }
    }
}

impl Stream {
    /// From where this attempt goes on.
    pub(crate) async fn start(&self) -> Result<StreamStart, BatchError> {
        self.workers.start_of(self.fence.job).await
    }

    /// The next parts of the input. Empty if there are none yet.
    pub(crate) async fn read(&self, after: i64) -> Result<Vec<InputPart>, BatchError> {
        self.workers.read(StreamCursor { job: self.fence.job, after }).await
    }

    /// Waits until there may be further input.
    pub(crate) async fn woken(&self) {
        let _ = timeout(POLL_INTERVAL, self.follower.woken()).await; // it looks then in any case
    }

    /// All that the job has said so far.
    pub(crate) async fn said(&self) -> Result<Vec<Value>, BatchError> {
        let mut said = Vec::new();
        loop {
            let after = i64::try_from(said.len()).unwrap_or(i64::MAX);
            let cursor = StreamCursor { job: self.fence.job, after };
            match self.workers.said(cursor).await? {
                Some(further) if !further.events.is_empty() => said.extend(further.events),
                _ => return Ok(said),
            }
        }
    }

    /// Says something. Returns `false` if the claim is no longer current.
    pub(crate) async fn say(
        &self,
        (n_before, events): (i64, Vec<Value>),
        preview: Option<Value>,
        (n_read, checkpoint): (i64, Option<Value>),
    ) -> Result<bool, BatchError> {
        let output = Output { fence: self.fence, n_before, events, preview, n_read, checkpoint };
        self.workers.write(output).await
    }
}
