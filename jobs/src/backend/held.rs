//! Which claims a process holds, and how many more it may take: a claim comes in when its statement
//! returns, and goes out when its attempt's end is written.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Context,
};

use futures::task::AtomicWaker;

use crate::Fence;

/// The claims held of one queue, of at most so many; a handle.
#[derive(Debug, Clone)]
pub struct HeldClaims(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    max_claims: usize,
    fences: Mutex<HashSet<Fence>>,
    /// Woken when a place becomes free.
    waker: AtomicWaker,
}

/// A claim held, until dropped.
#[derive(Debug)]
pub struct Hold {
    claims: HeldClaims,
    fence: Fence,
}

impl HeldClaims {
    /// Holds none yet.
    pub fn new(max_claims: usize) -> Self {
        let inner = Inner { max_claims, fences: Mutex::default(), waker: AtomicWaker::new() };
        Self(Arc::new(inner))
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<Fence>> {
        self.0.fences.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Places free for further claims.
    pub(crate) fn n_free(&self) -> usize {
        self.0.max_claims.saturating_sub(self.lock().len())
    }

    /// The same, and the task is woken when more become free.
    pub(crate) fn poll_free(&self, cx: &Context<'_>) -> usize {
        self.0.waker.register(cx.waker());
        self.n_free()
    }

    /// Holds a claim. `None`: it is held already. That happens when a crash of Postgres forgot it and it was
    /// made again; the attempt under way ends it.
    pub(crate) fn hold(&self, fence: Fence) -> Option<Hold> {
        self.lock().insert(fence).then(|| Hold { claims: self.clone(), fence })
    }

    /// Whether a claim is held.
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
