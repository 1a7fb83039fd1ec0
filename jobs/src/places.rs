//! How many jobs of a queue a process runs at a time, and which it may claim next.

use uuid::Uuid;

use crate::Queue;

/// An upload of more bytes than this is large.
pub(crate) const LARGE_UPLOAD_BYTES: u64 = 1024 * 1024;

/// How many jobs of a queue a process runs at a time. Those that nobody waits for leave some of the places to the others: a
/// quarter, and one at least if there are several.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    /// Jobs.
    pub n: usize,
    /// Jobs of one account that it waits for, and as many others. So an account with many jobs leaves places to others.
    pub n_of_account: usize,
    /// Jobs with large uploads. So the uploads take little memory, and long recordings leave places to short ones.
    pub n_large: usize,
}

/// The places of a queue that are free.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreePlaces {
    /// The queue.
    pub queue: Queue,
    /// The most jobs to claim.
    pub n: usize,
    /// How many of them may be asynchronous.
    pub n_asynchronous: usize,
    /// The accounts that have as many jobs as one may have: asynchronous ones if the second value is true, and others if not.
    pub full_accounts: Vec<(Uuid, bool)>,
    /// Whether the jobs may have large uploads.
    pub with_large: bool,
    /// Whether asynchronous ones may.
    pub with_large_asynchronous: bool,
    /// Whether one of the jobs may be a suspect. A statement claims one at most, for the places of all queues.
    pub with_suspect: bool,
}

impl Places {
    /// Places for any jobs.
    pub const fn any(n: usize) -> Self {
        Self { n, n_of_account: usize::MAX, n_large: usize::MAX }
    }

    /// How many of all may be asynchronous.
    pub(crate) fn n_asynchronous(&self) -> usize {
        asynchronous(self.n)
    }

    /// How many of those with large uploads may be asynchronous.
    pub(crate) fn n_large_asynchronous(&self) -> usize {
        asynchronous(self.n_large)
    }
}

impl FreePlaces {
    /// Places for any jobs.
    pub const fn any(queue: Queue, n: usize) -> Self {
        Self {
            queue,
            n,
            n_asynchronous: n,
            full_accounts: Vec::new(),
            with_large: true,
            with_large_asynchronous: true,
            with_suspect: true,
        }
    }
}

/// The places of `n` that asynchronous jobs may have.
fn asynchronous(n: usize) -> usize {
    n - (n / 4).max(usize::from(n > 1))
}
