//! All SQL statements on jobs. A statement that changes a job's state names the state and attempt that it expects,
//! and returns the jobs that it changed. If it changed none, another statement had changed the job first.
//!
//! Statements take lists of items, so that a process can execute all pending items as one statement. A job is acknowledged
//! once its caller gets a 202 for it. Frequent statements whose changes nobody has been told about turn `synchronous_commit`
//! off for their own transaction: a crash of Postgres may lose these.
//!
//! A statement that waits for locks on several rows locks them in the order of their ids, so that no two statements wait
//! for each other. Claims and deletions wait for no row: they skip rows that another statement has locked.

mod announcements;
mod artifacts;
mod claim;
mod clock;
mod control;
mod delete;
mod end;
mod find;
mod follow;
mod groups;
mod heartbeat;
mod progress;
mod requeue;
mod reserved_uploads;
mod retry;
mod rows;
mod stored;
mod streams;
mod submissions;
mod submit;
mod sweep;
mod uploads;
mod usage;
mod waiting;

pub use announcements::{JOBS_ENDED, JOBS_QUEUED, STREAM_INPUTS, STREAM_OUTPUTS, WEBHOOKS_DUE};
pub use claim::{Claimed, claim, claimed_by};
pub use clock::{Clock, ClockJump, clock, record_clock_jump};
pub use control::{
    Orders, QUEUE_MODE_CHANGED, QueueControl, QueueMode, is_quiet, queue_controls, queue_mode, remove_workers,
};
pub use delete::{Deleted, delete, delete_delivered, delete_these, is_deleted};
pub use end::{
    EndedRow, Ending, Ends, Guard, MAX_ENDINGS, acknowledge, announce_ends, cancel, end, end_within,
};
pub use find::{
    EndedFacts, JobFilter, WithArtifacts, ended, ended_facts, find, find_many, of_account, parameters,
};
pub use follow::{Cursor, Followed, follow};
pub use groups::{
    AccountGroup, Cancelled, Group, cancel_group, delete_group, find_ends, find_group, list_groups,
    newest_open_groups,
};
pub use heartbeat::{
    DEAD_AFTER, Heartbeat, LoadedModel, any_alive, beat, heartbeats, last_heartbeats, leave,
};
pub use progress::note_progress;
pub use requeue::{Requeue, requeue};
pub use reserved_uploads::{ReservedUpload, find_reserved_upload, reserve_upload};
pub use retry::{CAN_BE_RETRIED, retry};
pub use stored::stored_bytes;
pub use streams::{
    Appended, InputPart, NewPart, Output, OutputsSeen, StreamCursor, StreamStart, TakenOver, append,
    follow_outputs, read_inputs, stream_start, take_over, write_outputs,
};
pub use submissions::hold_writes;
pub use submit::{Submitted, submit, submitted};
pub use sweep::{RunningJob, expire, forget_workers, lost, make_due, overdue};
pub use uploads::used_objects;
pub use usage::{Reservation, Usage, reserve_amount};
pub use waiting::{WaitingJobs, waiting};
