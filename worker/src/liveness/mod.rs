//! Shows that this worker is alive, returns the jobs of dead workers to their queues, and deletes old jobs and uploads
//! that nobody needs.

mod clock_watch;
mod expiry;
mod heartbeat;
mod silence;
mod sweeper;
mod uploads;

pub(crate) use expiry::expire;
pub(crate) use heartbeat::heartbeat;
pub(crate) use sweeper::Sweeper;
pub(crate) use uploads::sweep_uploads;
