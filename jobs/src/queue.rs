//! The queues that jobs wait in, and how often a job may be claimed.

/// How many attempts a job has before it fails permanently. One that the worker gives back does not count, and neither do the
/// first two whose worker dies. From then on the job is a suspect, and the number is small, because an input that crashes its
/// worker must not crash one worker after another.
pub const MAX_ATTEMPTS: i32 = 3;

/// A queue. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Queue {
    /// Jobs that take milliseconds: images and handwriting.
    Quick,
    /// Jobs that take seconds to minutes: speech.
    Speech,
}

impl Queue {
    /// Every queue.
    pub const ALL: [Self; 2] = [Self::Quick, Self::Speech];

    /// The name in rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Speech => "speech",
        }
    }

    /// The queue with this name. `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|q| q.name() == name)
    }
}
