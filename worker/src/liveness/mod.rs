//! Who is alive: this worker's heartbeat goes out; the jobs of dead workers go back to their queues.

mod contact;
mod heartbeat;
mod sweeper;

pub(crate) use contact::Contact;
pub(crate) use heartbeat::heartbeat;
pub(crate) use sweeper::Sweeper;
