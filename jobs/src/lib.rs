//! Jobs and their queue: the types that describe a job, the SQL on jobs (`store`), the queue as an apalis backend
//! (`backend`), and uploads outside the database (`uploads`). What a job asks for, and what comes of it, are documents that this
//! crate does not read.
//!
//! The `jobs` table is both the only record of every job and the queue that workers claim from. All times come from
//! Postgres's `now()`, so processes on several machines share one clock.

pub mod backend;
pub mod fair_share;
pub mod group;
mod job;
mod outcome;
mod pace;
mod places;
mod queue;
mod recording_url;
pub mod store;
mod upload;
pub mod uploads;

pub use group::{GroupName, Label};
pub use job::{Fence, Job, JobId, JobState, NewJob, Work};
pub use outcome::{Artifact, End, Part, StoredOutcome, Timing};
pub use pace::Pace;
pub use places::{FreePlaces, Places};
pub use queue::{MAX_ATTEMPTS, Queue};
pub use recording_url::RecordingUrl;
pub use upload::{JobUpload, UploadContent, UploadObject};
