//! All SQL statements on jobs. A statement that changes a job's state names the state and attempt that it expects,
//! and returns the jobs that it changed. If it changed none, another statement had changed the job first.
//!
//! Statements take lists of items, so that a process can execute all pending items as one statement. They run on
//! connections with `synchronous_commit` off. A job is acknowledged once its caller gets a 202 for it. A statement
//! that changes an acknowledged job turns `synchronous_commit` on for its own transaction.
//!
//! A statement that waits for locks on several rows locks them in the order of their ids, so that no two statements wait
//! for each other. Claims and deletions wait for no row: they skip rows that another statement has locked.

use sqlx::PgConnection;

mod artifacts;
mod claim;
mod control;
mod end;
mod find;
mod follow;
mod heartbeat;
mod list;
mod operators;
mod overview;
mod progress;
mod requeue;
mod search;
mod submit;
mod sweep;
mod uploads;
mod usage;
mod waiting;
mod webhooks;

pub use claim::{Claimed, claim, claimed_by};
pub use control::{
    Orders, QUEUE_MODE_CHANGED, QueueControl, QueueMode, drain_worker, queue_control, set_queue_mode,
};
pub use end::{Ending, Ends, Guard, acknowledge, cancel, end};
pub use find::{EndedFacts, JobFilter, ended, ended_facts, find, find_many, of_account};
pub use follow::{Cursor, Followed, follow};
pub use heartbeat::{DEAD_AFTER, any_alive, beat, leave};
pub use list::{QueueDepth, Unended, WorkerRow, list_workers, queue_depths, unended};
pub use operators::{ErrorCount, FailedAttempt, cancel_any, errors, failed_attempts, purge, retry};
pub use overview::{
    AccountUse, Kept, MAX_COUNTED, QueueLoad, StateCounts, kept, queue_loads, state_counts, use_of_accounts,
};
pub use progress::note_progress;
pub use requeue::{Requeue, requeue};
pub use search::{JobPage, JobSearch, JobSummary, PageStart, search};
pub use submit::{Submitted, submit};
pub use sweep::{Lost, expire, lost};
pub use uploads::used_objects;
pub use usage::{AudioUsage, audio_today};
pub use waiting::{WaitingJobs, waiting};
pub use webhooks::{
    Attempted, Delivery, DeliveryState, DueDeliveries, LeaseLimits, ListedDelivery, MAX_DUE_COUNTED,
    WEBHOOKS_DUE, due_deliveries, lease_deliveries, list_deliveries, redeliver, redeliver_dead,
    settle_delivery,
};

/// The Postgres channel on which new jobs are announced. The payload is the names of their queues, separated by
/// commas.
pub const JOBS_QUEUED: &str = "jobs_queued";

/// The Postgres channel on which the ends of jobs are announced. [`ended`] parses its payload. The payload is the
/// jobs' rows as JSON if they fit into a notification and have no artifacts, so that a waiting request need not read
/// the table. Otherwise the payload is the jobs' ids, separated by commas.
pub const JOBS_ENDED: &str = "jobs_ended";

/// The most jobs that one statement may end. Their ids must fit into the 8,000 bytes of a notification.
pub const MAX_ENDINGS: usize = 200;

/// Announces a change that was flushed, after its commit. Postgres lets only one commit with a notification run at a time:
/// if the notification were part of a commit that waits for the disk, every other one would wait as well. It may be lost,
/// as any notification: those who wait for the change look for it once a second.
async fn announce(db: &mut PgConnection, channel: &str, payload: &str) {
    let notify = sqlx::query("select pg_notify($1, $2)").bind(channel).bind(payload);
    if let Err(error) = notify.execute(db).await {
        tracing::debug!(%error, channel, "cannot announce a change");
    }
}

/// An array parameter of a statement: the value of `of` for each item, in order.
fn column<'a, I, T>(items: &'a [I], of: impl Fn(&'a I) -> T) -> Vec<T> {
    items.iter().map(of).collect()
}

/// The error for a stored value that this version does not know, such as an operation of a newer version.
pub(crate) fn unreadable(what: &str, value: impl std::fmt::Display) -> sqlx::Error {
    sqlx::Error::Decode(
        format!(
            "unknown {what} {value:?} in the database; a newer version of akhar may have written it",
            value = value.to_string()
        )
        .into(),
    )
}
