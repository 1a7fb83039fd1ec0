//! Every SQL statement on jobs. Each change of a job's state is guarded by the state and the attempt it
//! expects, and counts its rows: none means that somebody else moved the job first.
//!
//! Statements take lists, so that a process can execute everything that is pending as one. They run on
//! connections with `synchronous_commit` off; a statement that touches an acknowledged job (one that its
//! caller was told of) turns it on for its own transaction.

mod artifacts;
mod claim;
mod end;
mod find;
mod heartbeat;
mod list;
mod progress;
mod requeue;
mod submit;
mod sweep;

pub use claim::{Claimed, claim, claimed_by};
pub use end::{Ending, Guard, acknowledge, cancel, end};
pub use find::{ended, find, find_many, n_waiting};
pub use heartbeat::{beat, leave};
pub use list::{ListedJob, QueueDepth, WorkerRow, list_jobs, list_workers, queue_depths};
pub use progress::note_progress;
pub use requeue::{Requeue, requeue};
pub use submit::{Submitted, submit};
pub use sweep::{Lost, expire, lost};

/// Postgres channel that says which queues have new jobs; the payload is their names, separated by commas.
pub const JOBS_QUEUED: &str = "jobs_queued";

/// Postgres channel that says which jobs have ended; [`ended`] reads its payload. Bytes that fit into a notification
/// are the rows themselves as JSON, so that a waiting caller's answer needs no look at the table; larger outcomes
/// are announced by the jobs' ids, separated by commas.
pub const JOBS_ENDED: &str = "jobs_ended";

/// Jobs that one statement may end: their ids fit into the 8,000 bytes of a notification.
pub const MAX_ENDINGS: usize = 200;

/// One column of a statement over arrays: `of` each item, in order.
fn column<'a, I, T>(items: &'a [I], of: impl Fn(&'a I) -> T) -> Vec<T> {
    items.iter().map(of).collect()
}

/// A row holds something this version does not know, such as an operation of a newer one.
pub(crate) fn unreadable(what: &str, value: impl std::fmt::Display) -> sqlx::Error {
    sqlx::Error::Decode(format!("unknown {what} {value:?}", value = value.to_string()).into())
}
