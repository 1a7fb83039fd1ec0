//! The contract between api and worker: what a job is, how it ends, and the store both reach it through.
//!
//! The `jobs` table is the truth. The queue's row is a delivery ticket that carries a job's id and
//! nothing else. Time is Postgres's `now()` alone, so processes on several machines share one clock.

mod job;
mod outcome;
pub mod store;
mod ticket;

pub use job::{
    Handwriting, Job, JobId, JobState, Language, MediaType, NewJob, Operation, Parameters, Picture, Speech,
    StrokeColor, TopK, TopKError, Upload,
};
pub use outcome::{Outcome, Prediction, Segment, Timing};
pub use ticket::{MAX_ATTEMPTS, Queue, TicketId};
