//! The queue's side of a job: a ticket carries a job's id to a worker and nothing else.

use ulid::Ulid;

use crate::JobId;

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

/// A ticket's identity in the queue's own table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketId(pub Ulid);

impl TicketId {
    /// The first ticket of a job: the same 128 bits.
    pub fn first_of(job: JobId) -> Self {
        Self(Ulid::from(job.0.as_u128()))
    }

    /// A further ticket, for a job that must be delivered again.
    pub(crate) fn fresh() -> Self {
        Self(Ulid::generate())
    }

    /// The id as the queue's table has it.
    pub(crate) fn text(self) -> String {
        self.0.to_string()
    }
}
