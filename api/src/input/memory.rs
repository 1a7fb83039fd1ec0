//! The memory of requests' bodies: what a body needs is taken from a budget before it is read, and returned when the
//! last reference to its bytes is gone.

use std::sync::Arc;

use akhar_jobs::Queue;
use bytes::Bytes;

use crate::{
    budget::{Budget, Share},
    problems::{Problem, ProblemType},
};

/// The capacity of the first allocation for a body whose length is not known.
const FIRST_BYTES: usize = 16 * 1024;
/// The capacity from which an allocation has room for all that may come, so that it is not copied into larger ones. The system
/// gives it memory as it is written.
const WHOLE_FROM_BYTES: usize = 1024 * 1024;

/// The memory for the bodies of one queue's requests.
#[derive(Debug, Clone)]
pub(crate) struct BodyMemory {
    budget: Arc<Budget<Queue>>,
    queue: Queue,
}

/// Memory that is taken until this is dropped.
#[derive(Debug)]
pub(super) struct Reserved {
    _share: Share<Queue>,
}

/// The bytes of one body, or of the file in it. They are never copied.
#[derive(Debug)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    share: Share<Queue>,
    queue: Queue,
    /// The bytes for which memory is taken.
    n_taken: usize,
    max_bytes: usize,
}

impl BodyMemory {
    /// `max_bytes` for all bodies in the process. Each queue leaves an eighth of them to the other one, so recordings
    /// that arrive do not keep images waiting.
    pub(crate) fn budget(max_bytes: usize) -> Arc<Budget<Queue>> {
        Budget::new(max_bytes, Self::most(max_bytes))
    }

    /// Changes the bytes of such a budget.
    pub(crate) fn set_budget(budget: &Budget<Queue>, max_bytes: usize) {
        budget.set_limits(max_bytes, Self::most(max_bytes));
    }

    /// The bytes that the bodies of one queue's requests may have together, of `max_bytes` in all.
    pub(crate) const fn most(max_bytes: usize) -> usize {
        max_bytes - max_bytes / 8
    }

    /// The memory for the requests of this queue.
    pub(crate) fn of(budget: &Arc<Budget<Queue>>, queue: Queue) -> Self {
        Self { budget: budget.clone(), queue }
    }

    /// Takes memory for a body that has `announced` bytes by its Content-Length, of which at most `max_bytes` are kept.
    pub(super) fn take(&self, announced: Option<usize>, max_bytes: usize) -> Result<Buffer, Problem> {
        let max_bytes = announced.map_or(max_bytes, |n| n.min(max_bytes));
        let n_taken = announced.map_or(0, |_| max_bytes);
        let share = self.share(n_taken)?;
        Ok(Buffer { bytes: Vec::new(), share, queue: self.queue, n_taken, max_bytes })
    }

    /// Takes memory for what is kept of a body while it is parsed.
    pub(super) fn reserve(&self, n_bytes: usize) -> Result<Reserved, Problem> {
        Ok(Reserved { _share: self.share(n_bytes)? })
    }

    fn share(&self, n_bytes: usize) -> Result<Share<Queue>, Problem> {
        self.budget.take(self.queue, n_bytes).ok_or_else(|| full(self.queue))
    }
}

impl Buffer {
    /// Appends bytes. Returns `false` and appends nothing if there would be more than the limit. Fails if there is no
    /// memory left.
    pub(super) fn push(&mut self, more: &[u8]) -> Result<bool, Problem> {
        let n = self.bytes.len() + more.len();
        if n > self.max_bytes {
            return Ok(false);
        }
        if n > self.n_taken {
            let wanted = FIRST_BYTES.max(2 * self.bytes.len()).max(n).min(self.max_bytes);
            if !self.share.grow_to(wanted) {
                return Err(full(self.queue));
            }
            self.n_taken = wanted;
        }
        if n > self.bytes.capacity() {
            let capacity = if self.n_taken < WHOLE_FROM_BYTES { self.n_taken } else { self.max_bytes };
            self.bytes.reserve_exact(capacity - self.bytes.len());
        }
        self.bytes.extend_from_slice(more);
        Ok(true)
    }

    /// The bytes. They keep the memory until the last reference to them is gone.
    pub(super) fn into_bytes(self) -> Bytes {
        Bytes::from_owner(self)
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

fn full(queue: Queue) -> Problem {
    let detail = match queue {
        Queue::Quick => "The server holds as many uploads as it can. Send the request again later.",
        Queue::Speech => "The server holds as many recordings as it can. Send the request again later.",
    };
    Problem::of(ProblemType::Busy).with_detail(detail)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Memory that is enough for every body of a test.
    pub(crate) fn plenty() -> BodyMemory {
        BodyMemory::of(&BodyMemory::budget(usize::MAX), Queue::Quick)
    }

    #[test]
    fn memory_is_kept_until_the_last_reference_is_gone() {
        let budget = BodyMemory::budget(800);
        let memory = BodyMemory::of(&budget, Queue::Speech);
        assert!(memory.take(Some(701), 1000).is_err(), "an eighth is for the other queue");
        let mut buffer = memory.take(Some(500), 600).unwrap();
        assert_eq!(budget.taken(), 500);
        assert!(buffer.push(&[7; 500]).unwrap());
        let bytes = buffer.into_bytes();
        let clone = bytes.clone();
        drop(bytes);
        assert_eq!((budget.taken(), clone.len()), (500, 500));
        drop(clone);
        assert_eq!(budget.taken(), 0);
    }

    #[test]
    fn memory_grows_with_a_body_of_unknown_length() {
        let budget = BodyMemory::budget(80_000);
        let memory = BodyMemory::of(&budget, Queue::Quick);
        let mut buffer = memory.take(None, 40_000).unwrap();
        assert!(buffer.push(&vec![7; 20_000]).unwrap() && buffer.push(&vec![7; 20_000]).unwrap());
        assert!(!buffer.push(&[7]).unwrap());
        assert_eq!(budget.taken(), 40_000);
        assert_eq!(buffer.bytes.capacity(), 40_000);
        let mut other = memory.take(None, 40_000).unwrap();
        assert!(other.push(&vec![7; 35_000]).is_err());
    }
}
