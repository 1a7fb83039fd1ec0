//! The queues that jobs of the service wait in.

use akhar_jobs::Queue;

/// Every queue. The names are stored in rows: never rename one.
pub const QUEUES: [Queue; 2] = Queue::set(["quick", "speech"]);

/// Jobs that take milliseconds: images and handwriting.
pub const QUICK: Queue = QUEUES[0];

/// Jobs that take seconds to minutes: speech.
pub const SPEECH: Queue = QUEUES[1];

/// The queue with this name. `None` if there is none.
pub fn queue_named(name: &str) -> Option<Queue> {
    QUEUES.into_iter().find(|queue| queue.name() == name)
}
