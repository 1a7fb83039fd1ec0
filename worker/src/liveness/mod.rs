//! Shows that this worker is alive, and returns the jobs of dead workers to their queues, and deletes uploads
//! that nobody needs.

mod contact;
mod heartbeat;
mod sweeper;
mod uploads;

pub(crate) use contact::Contact;
pub(crate) use heartbeat::heartbeat;
pub(crate) use sweeper::Sweeper;
pub(crate) use uploads::sweep_uploads;
