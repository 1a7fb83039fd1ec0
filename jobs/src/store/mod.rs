//! The jobs table's every read and write. Each state change is guarded by the state and attempt it
//! expects and counts its rows: none means somebody else moved the job first.

mod artifacts;
mod claim;
mod find;
mod finish;
mod heartbeat;
mod progress;
mod submit;
mod sweep;
mod ticket;

pub use claim::{Claimed, claim};
pub use find::{find, n_waiting};
pub use finish::{cancel, finish, retry};
pub use heartbeat::{beat, leave};
pub use progress::note_progress;
pub use submit::{Admission, SubmitError, submit};
pub use sweep::{Lost, Swept, expire, reissue, rescue};
pub use ticket::{Taken, drop_ticket, release_tickets, return_ticket, take};

/// Postgres channel on which a job's end is announced; the payload is the job's id.
pub const JOB_ENDED: &str = "job_ended";

/// Postgres channel on which the queue announces new tickets; the payload is JSON with `job_type`.
pub const TICKET_INSERTED: &str = "apalis::job::insert";

/// A row holds something this version does not know, such as an operation of a newer one.
pub(crate) fn unreadable(what: &str, value: impl std::fmt::Display) -> sqlx::Error {
    sqlx::Error::Decode(format!("unknown {what} {value:?}", value = value.to_string()).into())
}
