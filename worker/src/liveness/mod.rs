//! Who is alive: this worker's heartbeat goes out; the jobs of dead workers come back to their queues.

pub(crate) mod sweeper;
