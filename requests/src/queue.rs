//! The queues that jobs of the service wait in.

use akhar_jobs::Queue;

/// Every queue. The names are stored in rows: never rename one.
pub const QUEUES: [Queue; 3] = Queue::set(["quick", "speech", "live"]);

/// Jobs that take milliseconds: images and handwriting.
pub const QUICK: Queue = QUEUES[0];

/// Jobs that may take seconds to minutes: speech and translation. A long text would hold up images in the other queue; here it takes
/// turns with recordings, and who waits comes before the asynchronous recordings of the same account.
pub const SPEECH: Queue = QUEUES[1];

/// Sessions of live transcription, which run for as long as somebody speaks. So they take no place from recordings.
pub const LIVE: Queue = QUEUES[2];

/// The queue with this name. `None` if there is none.
pub fn queue_named(name: &str) -> Option<Queue> {
    QUEUES.into_iter().find(|queue| queue.name() == name)
}
