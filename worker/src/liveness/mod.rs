//! Shows that this worker is alive, and returns the jobs of dead workers to their queues.

mod contact;
mod heartbeat;
mod sweeper;

pub(crate) use contact::Contact;
pub(crate) use heartbeat::heartbeat;
pub(crate) use sweeper::Sweeper;
