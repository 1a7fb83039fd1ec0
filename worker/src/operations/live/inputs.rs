//! The parts of the input of a session that the next attempt would have to read again.

use std::collections::VecDeque;

use akhar_jobs::store::StreamStart;
use akhar_requests::live::{LiveParameters, LiveSession};
use serde::{Deserialize, Serialize};

use super::cutter::CutterState;

/// From where an attempt goes on. It is stored in rows: never rename a field.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Checkpoint {
    pub(super) cutter: CutterState,
    /// The session behind the parts that are deleted.
    pub(super) session: LiveSession,
    /// The bytes of those parts.
    n_bytes: u64,
}

/// A part that is read to its end, with its mark.
#[derive(Debug)]
struct Read {
    n: i64,
    /// The bytes of the session up to its end.
    end: u64,
    /// The session behind it, if it has changed there.
    session: Option<LiveSession>,
}

/// The parts since the last checkpoint.
#[derive(Debug)]
pub(super) struct Inputs {
    bytes_per_sample: u64,
    read: VecDeque<Read>,
    checkpoint: Checkpoint,
    /// The number of the last part that is deleted.
    n_deleted: i64,
    /// The number of the last part that is known, and the bytes up to its end.
    n_known: i64,
    n_bytes: u64,
}

impl Inputs {
    /// Those behind the parts that an earlier attempt has read.
    pub(super) fn new(parameters: &LiveParameters, start: StreamStart) -> Self {
        let first =
            || Checkpoint { cutter: CutterState::default(), session: parameters.session.clone(), n_bytes: 0 };
        let checkpoint: Checkpoint =
            start.checkpoint.and_then(|stored| serde_json::from_value(stored).ok()).unwrap_or_else(first);
        Self {
            bytes_per_sample: parameters.format.bytes_per_sample().into(),
            read: VecDeque::new(),
            n_bytes: checkpoint.n_bytes,
            checkpoint,
            n_deleted: start.n_read,
            n_known: start.n_read,
        }
    }

    /// From where this attempt went on, or would go on now.
    pub(super) const fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// The number of the last part that is known.
    pub(super) const fn n_known(&self) -> i64 {
        self.n_known
    }

    /// The number of the last part that is deleted.
    pub(super) const fn n_deleted(&self) -> i64 {
        self.n_deleted
    }

    /// The bytes of a part that were not processed before.
    pub(super) fn new_bytes<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let processed = self.checkpoint.cutter.position * self.bytes_per_sample;
        let n = usize::try_from(processed.saturating_sub(self.n_bytes)).unwrap_or(usize::MAX);
        bytes.get(n..).unwrap_or_default()
    }

    /// The bytes of the next part are processed.
    pub(super) const fn advance(&mut self, n: i64, n_bytes: usize) {
        self.n_known = n;
        self.n_bytes += n_bytes as u64;
    }

    /// So is its mark. `session`: the session behind it, if it has changed.
    pub(super) fn add(&mut self, session: Option<LiveSession>) {
        self.read.push_back(Read { n: self.n_known, end: self.n_bytes, session });
    }

    /// Whether there are parts before this state, which need not be read again.
    pub(super) fn can_delete(&self, cutter: CutterState) -> bool {
        self.read.front().is_some_and(|read| read.end <= cutter.position * self.bytes_per_sample)
    }

    /// Makes a checkpoint at this state: the parts before it need not be read again.
    pub(super) fn reach(&mut self, cutter: CutterState) {
        let position = cutter.position * self.bytes_per_sample;
        self.checkpoint.cutter = cutter;
        let n_reached = self.read.iter().take_while(|read| read.end <= position).count();
        for read in self.read.drain(..n_reached) {
            self.n_deleted = read.n;
            self.checkpoint.n_bytes = read.end;
            if let Some(session) = read.session {
                self.checkpoint.session = session;
            }
        }
    }
}
