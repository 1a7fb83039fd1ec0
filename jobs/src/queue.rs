//! The queues that jobs wait in.

/// Claims a job may have before it fails for good: one crash or restart must not cost a caller an
/// answer, and an input that kills its worker must not kill a third one.
pub const MAX_ATTEMPTS: i32 = 3;

/// The queues. The names are stored in rows: never rename one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Queue {
    /// Milliseconds of work: images, handwriting.
    Quick,
    /// Seconds to minutes of work.
    Speech,
}

impl Queue {
    /// Every queue.
    pub const ALL: [Self; 2] = [Self::Quick, Self::Speech];

    /// The stored name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Speech => "speech",
        }
    }

    /// The queue stored under this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|q| q.name() == name)
    }
}
