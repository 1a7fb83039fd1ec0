//! Shows that this worker is alive, and returns the jobs of dead workers to their queues, and deletes uploads
//! that nobody needs.

mod clock_watch;
mod heartbeat;
mod silence;
mod sweeper;
mod uploads;

pub(crate) use heartbeat::heartbeat;
pub(crate) use sweeper::Sweeper;
pub(crate) use uploads::sweep_uploads;
