//! The claims that a process holds, and how many more it may take. A claim is added when the claiming statement
//! returns, and removed when the end of its attempt is written. Its place is free before: when the work is over.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Context,
};

use futures::task::AtomicWaker;
use parking_lot::Mutex;

use crate::{Fence, Queue, store::Orders};

/// A handle on the claims of one queue that this process holds. Their number is limited.
#[derive(Debug, Clone)]
pub struct HeldClaims(Arc<Inner>);

/// The most claims that are held for each place. Those whose work is over wait for the write of their end: so the next
/// jobs are claimed while the ends are written, but no more if the ends cannot be written.
const MAX_HELD_PER_PLACE: usize = 2;

#[derive(Debug)]
struct Inner {
    n_places: usize,
    /// An operator decided that no more claims are taken.
    is_paused: AtomicBool,
    claims: Mutex<Held>,
    /// Woken when a claim is removed, and when claims are taken again.
    waker: AtomicWaker,
}

#[derive(Debug, Default)]
struct Held {
    fences: HashSet<Fence>,
    /// How many of them have a place, because their work is not over.
    n_working: usize,
}

/// The claims of all queues that a process holds. Unlike [`Claims`](super::Claims), this handle keeps no task alive: who
/// only looks at claims must not delay the end of the task that makes them.
#[derive(Debug, Clone)]
pub struct HeldByQueue([HeldClaims; Queue::ALL.len()]);

impl HeldByQueue {
    /// Empty sets. That of a queue has `n_places(queue)` places.
    pub(super) fn new(n_places: impl Fn(Queue) -> usize) -> Self {
        Self(Queue::ALL.map(|queue| HeldClaims::new(n_places(queue))))
    }

    /// The claims of one queue.
    pub fn of(&self, queue: Queue) -> &HeldClaims {
        &self.0[queue as usize]
    }

    /// Whether this claim is held.
    pub(super) fn holds(&self, fence: Fence) -> bool {
        self.0.iter().any(|held| held.holds(fence))
    }

    /// Pauses the queues of which this worker may claim no jobs, and resumes the others.
    pub fn apply(&self, orders: &Orders) {
        for queue in Queue::ALL {
            self.of(queue).pause(!orders.allow(queue));
        }
    }
}

/// A held claim. Dropping it removes the claim from its [`HeldClaims`].
#[derive(Debug)]
pub struct Hold {
    claims: HeldClaims,
    fence: Fence,
    is_working: bool,
}

impl HeldClaims {
    /// An empty set with this number of places.
    pub fn new(n_places: usize) -> Self {
        let inner = Inner {
            n_places,
            is_paused: AtomicBool::new(false),
            claims: Mutex::default(),
            waker: AtomicWaker::new(),
        };
        Self(Arc::new(inner))
    }

    /// Takes no more claims, or takes them again.
    pub(crate) fn pause(&self, pause: bool) {
        if self.0.is_paused.swap(pause, Ordering::Relaxed) && !pause {
            self.0.waker.wake();
        }
    }

    /// The most claims that are held at a time, those included whose work is over.
    pub fn max_held(&self) -> usize {
        MAX_HELD_PER_PLACE * self.0.n_places
    }

    /// How many claims are held.
    pub fn n_held(&self) -> usize {
        self.0.claims.lock().fences.len()
    }

    /// How many more claims may be held.
    pub(crate) fn n_free(&self) -> usize {
        if self.0.is_paused.load(Ordering::Relaxed) {
            return 0;
        }
        let held = self.0.claims.lock();
        let n_places = self.0.n_places.saturating_sub(held.n_working);
        n_places.min(self.max_held().saturating_sub(held.fences.len()))
    }

    /// Like [`Self::n_free`]; also wakes the task of `cx` when there are more.
    pub(crate) fn poll_free(&self, cx: &Context<'_>) -> usize {
        self.0.waker.register(cx.waker());
        self.n_free()
    }

    /// Adds a claim. Returns `None` if the claim is held already. That happens when a crash of Postgres lost the
    /// claim and the job was claimed again with the same number. The running attempt ends the job.
    pub(crate) fn hold(&self, fence: Fence) -> Option<Hold> {
        let mut held = self.0.claims.lock();
        if !held.fences.insert(fence) {
            return None;
        }
        held.n_working += 1;
        Some(Hold { claims: self.clone(), fence, is_working: true })
    }

    /// Whether this claim is held.
    pub(crate) fn holds(&self, fence: Fence) -> bool {
        self.0.claims.lock().fences.contains(&fence)
    }
}

impl Hold {
    /// Frees the place for another job. The claim is held until its end is written.
    pub fn work_is_over(&mut self) {
        if std::mem::take(&mut self.is_working) {
            self.claims.0.claims.lock().n_working -= 1;
            self.claims.0.waker.wake();
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut held = self.claims.0.claims.lock();
        held.fences.remove(&self.fence);
        held.n_working -= usize::from(self.is_working);
        drop(held);
        self.claims.0.waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::JobId;

    fn fence() -> Fence {
        Fence { job: JobId(Uuid::now_v7()), attempt: 1 }
    }

    #[test]
    fn a_place_is_free_when_the_work_is_over_but_ends_that_are_not_written_are_limited() {
        let claims = HeldClaims::new(2);
        let mut holds: Vec<_> = (0..2).map(|_| claims.hold(fence()).unwrap()).collect();
        assert_eq!(claims.n_free(), 0);
        for hold in &mut holds {
            hold.work_is_over();
            hold.work_is_over();
        }
        assert_eq!((claims.n_free(), claims.n_held()), (2, 2));
        holds.extend((0..2).map(|_| claims.hold(fence()).unwrap()));
        for hold in &mut holds {
            hold.work_is_over();
        }
        assert_eq!((claims.n_free(), claims.n_held()), (0, 4), "four ends are not written");
        holds.pop();
        assert_eq!((claims.n_free(), claims.n_held()), (1, 3));
        holds.clear();
        assert_eq!((claims.n_free(), claims.n_held()), (2, 0));
    }
}
