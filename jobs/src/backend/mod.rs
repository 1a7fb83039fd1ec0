//! The queue as an apalis backend over the `jobs` table, and the tasks that execute its statements in groups.
//!
//! Submitting is apalis's `push_tasks`, claiming its `fetch_next`; [`JobStore`] implements both, and
//! [`JobBackend`] decides when to fetch. Ends are written by [`Endings`] and not by apalis's event loop,
//! which handles heartbeat, events and fetch one after another: an end would wait for a slow fetch, and
//! would be lost with the consumer.

mod admission;
mod claims;
mod connection;
mod consumer;
mod endings;
mod expose;
mod group;
mod held;
mod lookups;
mod persistence;
mod submissions;
mod wakeups;

pub use admission::Admission;
pub use claims::{Claim, ClaimedJob, Claims};
pub use consumer::JobBackend;
pub use endings::Endings;
pub use expose::ParametersCodec;
pub use group::GroupError;
pub use held::{HeldClaims, Hold};
pub use lookups::Lookups;
pub use persistence::{JobStore, JobTask, QueueError, Refusal};
pub use submissions::{Submissions, SubmitError};
pub use wakeups::Wakeups;
