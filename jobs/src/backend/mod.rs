//! The queue as an apalis backend over the `jobs` table, and the tasks that execute its statements in batches.
//!
//! A job is submitted by apalis's `push_tasks` ([`Submissions`]) and claimed by its `fetch_next` ([`JobBackend`], which
//! also decides when to fetch). [`Endings`] writes how attempts end. apalis's event loop is not used for that: it handles
//! heartbeats, events and fetches one after another, so an ending would wait for a slow fetch and would be lost if the
//! consumer stopped.

mod admission;
mod batch;
mod claims;
mod consumer;
mod endings;
mod held;
mod lookups;
mod streams;
mod submissions;
mod waiting;
mod wakeups;

pub use admission::{Admission, QueueFull};
pub use batch::{Batch, BatchError, Executed, Statement, observe_statements, silent_statement};
pub use claims::{ClaimedJob, Claims, FetchedJob};
pub use consumer::JobBackend;
pub use endings::Endings;
pub use held::{HeldByQueue, HeldClaims, Hold};
pub use lookups::Lookups;
pub use streams::{StreamCallers, StreamFollower, StreamWakeups, StreamWorkers};
pub use submissions::{NotAccepted, Submissions, SubmitError, SubmitResult};
pub use wakeups::Wakeups;
