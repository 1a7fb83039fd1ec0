//! The queue: what a job is, how it ends, the SQL on it (`store`), and the apalis backend over it (`backend`).
//!
//! The `jobs` table is both the truth about every job and the queue that workers claim from. Time is
//! Postgres's `now()` alone, so processes on several machines share one clock.

pub mod backend;
mod job;
mod operation;
mod outcome;
mod parameters;
mod queue;
pub mod store;
mod upload;

pub use job::{Fence, Job, JobId, JobState, NewJob};
pub use operation::Operation;
pub use outcome::{Outcome, Prediction, Segment, Timing};
pub use parameters::{
    HandwritingParameters, Language, Parameters, Picture, SpeechParameters, StrokeColor, TopK, TopKError,
};
pub use queue::{MAX_ATTEMPTS, Queue};
pub use upload::{MediaType, Upload};
