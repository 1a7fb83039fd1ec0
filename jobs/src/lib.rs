//! Jobs and their queue: the types that describe a job, the SQL on jobs (`store`), the queue as an apalis backend
//! (`backend`), and uploads outside the database (`uploads`).
//!
//! The `jobs` table is both the only record of every job and the queue that workers claim from. All times come from
//! Postgres's `now()`, so processes on several machines share one clock.

pub mod backend;
mod bounded;
mod digits;
pub mod fair_share;
pub mod group;
mod job;
pub mod key_term;
mod operation;
mod outcome;
mod pace;
pub mod panjabi_text;
mod parameters;
mod places;
mod queue;
mod recording_url;
pub mod sniff;
pub mod store;
mod upload;
pub mod uploads;

pub use bounded::Bounded;
pub use digits::Digits;
pub use group::{GroupName, Label};
pub use job::{Fence, Job, JobId, JobState, NewJob};
pub use key_term::KeyTerm;
pub use operation::Operation;
pub use outcome::{Outcome, Prediction, ProbablyWrong, Segment, TextKind, Timing, Word};
pub use pace::Pace;
pub use panjabi_text::PanjabiText;
pub use parameters::{
    Channels, CharSpace, HandwritingParameters, Language, LineSpace, MaxLineLength, MaxLines, PageLength,
    PageWidth, Parameters, Picture, Script, SpeechParameters, StrokeColor, StrokeWidth, SubtitleSize, TopK,
    WordSpace,
};
pub use places::{FreePlaces, Places};
pub use queue::{MAX_ATTEMPTS, Queue};
pub use recording_url::RecordingUrl;
pub use upload::{JobUpload, MAX_FETCHED_S, MAX_RECORDING_S, MediaType, Upload, UploadContent, UploadObject};
