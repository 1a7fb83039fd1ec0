//! The queue as an apalis backend over the `jobs` table, and the tasks that execute its statements in groups.
//!
//! A job is submitted by apalis's `push_tasks` and claimed by its `fetch_next`. [`JobStore`] implements both, and
//! [`JobBackend`] decides when to fetch. [`Endings`] writes how attempts end. apalis's event loop is not used for
//! that: it handles heartbeats, events and fetches one after another, so an ending would wait for a slow fetch and
//! would be lost if the consumer stopped.

mod admission;
mod claims;
mod connection;
mod consumer;
mod endings;
mod expose;
mod follows;
mod group;
mod held;
mod lookups;
mod persistence;
mod submissions;
mod turns;
mod wakeups;

pub use admission::{Admission, QueueFull};
pub use claims::{Claim, ClaimedJob, Claims};
pub use consumer::JobBackend;
pub use endings::Endings;
pub use expose::ParametersCodec;
pub use follows::Follows;
pub use group::{Executed, GroupError, observe_statements};
pub use held::{HeldByQueue, HeldClaims, Hold};
pub use lookups::Lookups;
pub use persistence::{JobStore, JobTask, QueueError, Refusal};
pub use submissions::{Submissions, SubmitError};
pub use wakeups::Wakeups;
