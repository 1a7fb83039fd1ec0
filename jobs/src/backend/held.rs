//! The claims that a process holds, and how many more it may take. A claim is added when the claiming statement
//! returns, and removed when the end of its attempt is written.

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

#[derive(Debug)]
struct Inner {
    max_claims: usize,
    /// An operator decided that no more claims are taken.
    is_paused: AtomicBool,
    fences: Mutex<HashSet<Fence>>,
    /// Woken when a claim is removed, and when claims are taken again.
    waker: AtomicWaker,
}

/// The claims of all queues that a process holds. Unlike [`Claims`](super::Claims), this handle keeps no task alive: who
/// only looks at claims must not delay the end of the task that makes them.
#[derive(Debug, Clone)]
pub struct HeldByQueue([HeldClaims; Queue::ALL.len()]);

impl HeldByQueue {
    /// Empty sets. That of a queue takes at most `max_claims(queue)` claims.
    pub(super) fn new(max_claims: impl Fn(Queue) -> usize) -> Self {
        Self(Queue::ALL.map(|queue| HeldClaims::new(max_claims(queue))))
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
}

impl HeldClaims {
    /// An empty set that takes at most `max_claims` claims.
    pub fn new(max_claims: usize) -> Self {
        let inner = Inner {
            max_claims,
            is_paused: AtomicBool::new(false),
            fences: Mutex::default(),
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

    /// How many claims are held.
    pub fn n_held(&self) -> usize {
        self.0.fences.lock().len()
    }

    /// How many more claims may be held.
    pub(crate) fn n_free(&self) -> usize {
        if self.0.is_paused.load(Ordering::Relaxed) {
            return 0;
        }
        self.0.max_claims.saturating_sub(self.0.fences.lock().len())
    }

    /// Like [`Self::n_free`]; also wakes the task of `cx` when a claim is removed.
    pub(crate) fn poll_free(&self, cx: &Context<'_>) -> usize {
        self.0.waker.register(cx.waker());
        self.n_free()
    }

    /// Adds a claim. Returns `None` if the claim is held already. That happens when a crash of Postgres lost the
    /// claim and the job was claimed again with the same number. The running attempt ends the job.
    pub(crate) fn hold(&self, fence: Fence) -> Option<Hold> {
        self.0.fences.lock().insert(fence).then(|| Hold { claims: self.clone(), fence })
    }

    /// Whether this claim is held.
    pub(crate) fn holds(&self, fence: Fence) -> bool {
        self.0.fences.lock().contains(&fence)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.claims.0.fences.lock().remove(&self.fence);
        self.claims.0.waker.wake();
    }
}
