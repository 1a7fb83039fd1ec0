//! The memory of requests' bodies: what a body needs is taken from a budget before it is read, and returned when the
//! last reference to its bytes is gone.

use std::sync::Arc;

use akhar_jobs::Queue;
use akhar_platform::budget::{Budget, LimitReached, Share};
use akhar_requests::{LIVE, SPEECH};
use bytes::Bytes;
use uuid::Uuid;

use crate::problems::Problem;

/// The capacity of the first allocation for a body whose length is not known.
const FIRST_BYTES: usize = 16 * 1024;
/// The capacity from which an allocation has room for all that may come, so that it is not copied into larger ones. The system
/// gives it memory as it is written.
const WHOLE_FROM_BYTES: usize = 1024 * 1024;

/// The memory for the bodies of all requests in the process. Each queue leaves an eighth of it to the other ones, so recordings
/// that arrive and sockets do not keep images waiting, and each account a quarter of a queue's to the others.
#[derive(Debug, Clone)]
pub(crate) struct BodyBudget {
    queues: Arc<Budget<Queue>>,
    accounts: Arc<Budget<(Queue, Uuid)>>,
}

/// The memory for the bodies of one account's requests to one queue.
#[derive(Debug, Clone)]
pub(crate) struct BodyMemory {
    budget: BodyBudget,
    queue: Queue,
    account_id: Uuid,
}

/// Memory that is taken until this is dropped.
#[derive(Debug)]
pub(crate) struct Reserved {
    of_queue: Share<Queue>,
    of_account: Share<(Queue, Uuid)>,
}

/// The bytes of one body, or of the file in it. They are never copied.
#[derive(Debug)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    reserved: Reserved,
    queue: Queue,
    /// The bytes for which memory is taken.
    n_taken: usize,
    max_bytes: usize,
}

impl BodyBudget {
    /// `max_bytes` for all bodies.
    pub(crate) fn new(max_bytes: usize) -> Self {
        Self {
            queues: Budget::new(max_bytes, Self::most_of_queue(max_bytes)),
            accounts: Budget::new(max_bytes, Self::most_of_account(max_bytes)),
        }
    }

    /// Changes the bytes.
    pub(crate) fn set_limit(&self, max_bytes: usize) {
        self.queues.set_limits(max_bytes, Self::most_of_queue(max_bytes));
        self.accounts.set_limits(max_bytes, Self::most_of_account(max_bytes));
    }

    /// The bytes that are taken at present.
    pub(crate) fn taken(&self) -> usize {
        self.queues.taken()
    }

    /// The bytes that the bodies of one account's requests to one queue may have together, of `max_bytes` in all.
    pub(crate) const fn most_of_account(max_bytes: usize) -> usize {
        let of_queue = Self::most_of_queue(max_bytes);
        of_queue - of_queue / 4
    }

    const fn most_of_queue(max_bytes: usize) -> usize {
        max_bytes - max_bytes / 8
    }

    /// The memory for this account's requests to this queue.
    pub(crate) fn of(&self, queue: Queue, account_id: Uuid) -> BodyMemory {
        BodyMemory { budget: self.clone(), queue, account_id }
    }
}

impl BodyMemory {
    /// Takes memory for a body that has `announced` bytes by its Content-Length, of which at most `max_bytes` are kept.
    pub(super) fn take(&self, announced: Option<usize>, max_bytes: usize) -> Result<Buffer, Problem> {
        let max_bytes = announced.map_or(max_bytes, |n| n.min(max_bytes));
        let n_taken = announced.map_or(0, |_| max_bytes);
        let reserved = self.reserve(n_taken)?;
        Ok(Buffer { bytes: Vec::new(), reserved, queue: self.queue, n_taken, max_bytes })
    }

    /// Takes memory for what is kept of a body while it is parsed.
    pub(crate) fn reserve(&self, n_bytes: usize) -> Result<Reserved, Problem> {
        let BodyBudget { queues, accounts } = &self.budget;
        let of_account =
            accounts.take((self.queue, self.account_id), n_bytes).map_err(|limit| full(self.queue, limit))?;
        let of_queue = queues.take(self.queue, n_bytes).map_err(|_| full(self.queue, LimitReached::OfAll))?;
        Ok(Reserved { of_queue, of_account })
    }
}

impl Reserved {
    /// Takes more, so that it is at least `n_bytes`. If that fails, the request has to fail.
    fn grow_to(&mut self, n_bytes: usize) -> Result<(), LimitReached> {
        self.of_account.grow_to(n_bytes)?;
        self.of_queue.grow_to(n_bytes).map_err(|_| LimitReached::OfAll)
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
            self.reserved.grow_to(wanted).map_err(|limit| full(self.queue, limit))?;
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

fn full(queue: Queue, limit: LimitReached) -> Problem {
    let files = match queue {
        SPEECH => "recordings",
        LIVE => "sockets",
        _ => "uploads",
    };
    let most = match limit {
        LimitReached::OfKey => "of your account as it may have",
        LimitReached::OfAll => "as it can",
    };
    let detail = format!("The server holds as many {files} {most}. Send the request again later.");
    Problem::of(limit.into()).with_detail(detail)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::problems::ProblemType;
    use akhar_requests::QUICK;

    /// Memory that is enough for every body of a test.
    pub(crate) fn plenty() -> BodyMemory {
        BodyBudget::new(usize::MAX).of(QUICK, Uuid::nil())
    }

    #[test]
    fn an_account_and_a_queue_leave_memory_to_the_others() {
        let budget = BodyBudget::new(800);
        let memory = |queue, account| budget.of(queue, Uuid::from_u128(account));
        let refused = |queue, account, n| memory(queue, account).reserve(n).unwrap_err().problem_type();
        let (of_account, of_all) = (ProblemType::AccountBusy, ProblemType::Busy);
        assert_eq!(refused(SPEECH, 1, 526), of_account, "a quarter is for other accounts");
        let first = memory(SPEECH, 1).reserve(525);
        assert_eq!(refused(SPEECH, 2, 176), of_all, "an eighth is for the other queue");
        let second = memory(SPEECH, 2).reserve(175);
        let third = memory(QUICK, 1).reserve(100);
        assert!(first.is_ok() && second.is_ok() && third.is_ok());
        assert_eq!(refused(QUICK, 2, 1), of_all);
        drop((first, second, third));
        assert_eq!((budget.taken(), budget.accounts.taken()), (0, 0));
    }

    #[test]
    fn memory_is_kept_until_the_last_reference_is_gone() {
        let budget = BodyBudget::new(800);
        let memory = budget.of(SPEECH, Uuid::nil());
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
        let budget = BodyBudget::new(80_000);
        let memory = budget.of(QUICK, Uuid::nil());
        let mut buffer = memory.take(None, 40_000).unwrap();
        assert!(buffer.push(&vec![7; 20_000]).unwrap() && buffer.push(&vec![7; 20_000]).unwrap());
        assert!(!buffer.push(&[7]).unwrap());
        assert_eq!(budget.taken(), 40_000);
        assert_eq!(buffer.bytes.capacity(), 40_000);
        let mut other = memory.take(None, 40_000).unwrap();
        assert!(other.push(&vec![7; 35_000]).is_err());
    }
}
