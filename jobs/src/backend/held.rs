//! The claims that a process holds, and how many more it may take. A claim is added when the claiming statement
//! returns, and removed when the end of its attempt is written.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Context,
};

use futures::task::AtomicWaker;

use crate::Fence;

/// A handle on the claims of one queue that this process holds. Their number is limited.
#[derive(Debug, Clone)]
pub struct HeldClaims(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    max_claims: usize,
    fences: Mutex<HashSet<Fence>>,
    /// Woken when a claim is removed.
    waker: AtomicWaker,
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
        let inner = Inner { max_claims, fences: Mutex::default(), waker: AtomicWaker::new() };
        Self(Arc::new(inner))
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Fence>> {
        self.0.fences.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many more claims may be held.
    pub(crate) fn n_free(&self) -> usize {
        self.0.max_claims.saturating_sub(self.lock().len())
    }

    /// Like [`Self::n_free`]; also wakes the task of `cx` when a claim is removed.
    pub(crate) fn poll_free(&self, cx: &Context<'_>) -> usize {
        self.0.waker.register(cx.waker());
        self.n_free()
    }

    /// Adds a claim. Returns `None` if the claim is held already. That happens when a crash of Postgres lost the
    /// claim and the job was claimed again with the same number. The running attempt ends the job.
    pub(crate) fn hold(&self, fence: Fence) -> Option<Hold> {
        self.lock().insert(fence).then(|| Hold { claims: self.clone(), fence })
    }

    /// Whether this claim is held.
    pub(crate) fn holds(&self, fence: Fence) -> bool {
        self.lock().contains(&fence)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.claims.lock().remove(&self.fence);
        self.claims.0.waker.wake();
    }
}
