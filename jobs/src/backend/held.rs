//! The claims that a process holds, and how many more it may take. A claim is added when the claiming statement
//! returns, and removed when the end of its attempt is written. Its place is free before: when the work is over.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Context,
};

use futures::task::AtomicWaker;
use parking_lot::Mutex;
use uuid::Uuid;

use crate::{Fence, FreePlaces, Places, Queue, queue::ByQueue, store::Orders};

/// A handle on the claims of one queue that this process holds. Their number is limited.
#[derive(Debug, Clone)]
pub struct HeldClaims(Arc<Inner>);

/// The most claims that are held for each place. Those whose work is over wait for the write of their end: so the next
/// jobs are claimed while the ends are written, but no more if the ends cannot be written.
const MAX_HELD_PER_PLACE: usize = 2;

#[derive(Debug)]
struct Inner {
    places: Places,
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
    n_asynchronous: usize,
    /// How many of those each account has: asynchronous ones, and others.
    of_account: HashMap<(Uuid, bool), usize>,
    /// How many of those have large uploads.
    n_large: usize,
    n_large_asynchronous: usize,
    /// How many of the claims are of suspects: one at most in all queues.
    n_suspects: usize,
    /// How often a place became free that only some jobs can have, such as those of an account or suspects.
    n_shares_freed: u64,
}

/// What is known of the jobs that may be claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Vacancy {
    /// How many jobs the next claim may take.
    pub(crate) n: usize,
    /// Grows when jobs may be claimed that could not be claimed before, although places were free.
    pub(crate) n_shares_freed: u64,
}

/// The claims of all queues that a process holds. Unlike [`Claims`](super::Claims), this handle keeps no task alive: who
/// only looks at claims must not delay the end of the task that makes them.
#[derive(Debug, Clone)]
pub struct HeldByQueue(ByQueue<HeldClaims>);

impl HeldByQueue {
    /// Empty sets, with the places of each queue.
    pub(super) fn new(queues: &'static [Queue], places: impl Fn(Queue) -> Places) -> Self {
        Self(ByQueue::new(queues, |queue| HeldClaims::new(places(queue))))
    }

    /// The claims of one queue.
    pub fn of(&self, queue: Queue) -> &HeldClaims {
        self.0.of(queue)
    }

    /// Whether this claim is held.
    pub(super) fn holds(&self, fence: Fence) -> bool {
        self.0.iter().any(|(_, held)| held.holds(fence))
    }

    /// Whether a suspect is held. Its end is not written, so its worker could still die with it.
    pub(super) fn has_suspect(&self) -> bool {
        self.0.iter().any(|(_, held)| held.0.claims.lock().n_suspects > 0)
    }

    /// Pauses the queues of which this worker may claim no jobs, and resumes the others.
    pub fn apply(&self, orders: &Orders) {
        for (queue, held) in self.0.iter() {
            held.pause(!orders.allow(queue));
        }
    }
}

/// A held claim. Dropping it removes the claim from its [`HeldClaims`].
#[derive(Debug)]
pub struct Hold {
    claims: HeldClaims,
    fence: Fence,
    kind: JobKind,
    is_working: bool,
}

/// What decides which places a job may have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JobKind {
    pub(crate) account_id: Uuid,
    pub(crate) is_asynchronous: bool,
    pub(crate) is_large: bool,
    pub(crate) is_suspect: bool,
}

impl HeldClaims {
    /// An empty set with these places.
    pub fn new(places: Places) -> Self {
        let inner = Inner {
            places,
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
        MAX_HELD_PER_PLACE * self.0.places.n
    }

    /// How many claims are held.
    pub fn n_held(&self) -> usize {
        self.0.claims.lock().fences.len()
    }

    /// The places that are free. `None` if no claim may be taken.
    pub(crate) fn free(&self, queue: Queue) -> Option<FreePlaces> {
        let held = self.0.claims.lock();
        let n = self.n_claimable(&held);
        let places = self.0.places;
        let full = held.of_account.iter().filter(|(_, n)| **n >= places.n_of_account);
        let with_large = held.n_large < places.n_large;
        (n > 0).then(|| FreePlaces {
            queue,
            n,
            n_asynchronous: places.n_asynchronous().saturating_sub(held.n_asynchronous),
            full_accounts: full.map(|(account, _)| *account).collect(),
            with_large,
            with_large_asynchronous: with_large && held.n_large_asynchronous < places.n_large_asynchronous(),
            with_suspect: true,
        })
    }

    /// How many more claims may be held. Also wakes the task of `cx` when there are more.
    pub(crate) fn poll_free(&self, cx: &Context<'_>) -> Vacancy {
        self.0.waker.register(cx.waker());
        let held = self.0.claims.lock();
        Vacancy { n: self.n_claimable(&held), n_shares_freed: held.n_shares_freed }
    }

    /// How many jobs the next claim may take. One at a time if an account may not have all places: it is known which
    /// accounts are full only after each.
    fn n_claimable(&self, held: &Held) -> usize {
        if self.0.is_paused.load(Ordering::Relaxed) {
            return 0;
        }
        let Places { n, n_of_account, n_large, .. } = self.0.places;
        let n_places = n.saturating_sub(held.n_working);
        let n_free = n_places.min(self.max_held().saturating_sub(held.fences.len()));
        if n_of_account.min(n_large) < n { n_free.min(1) } else { n_free }
    }

    /// Adds a claim of a job of this kind. Returns `None` if the claim is held already. That happens when a crash of
    /// Postgres lost the claim and the job was claimed again with the same number. The running attempt ends the job.
    pub(crate) fn hold(&self, fence: Fence, kind: JobKind) -> Option<Hold> {
        let mut held = self.0.claims.lock();
        if !held.fences.insert(fence) {
            return None;
        }
        held.n_working += 1;
        held.n_asynchronous += usize::from(kind.is_asynchronous);
        *held.of_account.entry((kind.account_id, kind.is_asynchronous)).or_default() += 1;
        held.n_large += usize::from(kind.is_large);
        held.n_large_asynchronous += usize::from(kind.is_large && kind.is_asynchronous);
        held.n_suspects += usize::from(kind.is_suspect);
        Some(Hold { claims: self.clone(), fence, kind, is_working: true })
    }

    /// Whether this claim is held.
    pub(crate) fn holds(&self, fence: Fence) -> bool {
        self.0.claims.lock().fences.contains(&fence)
    }
}

impl Held {
    /// Frees the place of a job whose work is over.
    fn free_place(&mut self, places: Places, kind: JobKind) {
        let JobKind { account_id, is_asynchronous, is_large, .. } = kind;
        let of_account = (account_id, is_asynchronous);
        let n_own = self.of_account.remove(&of_account).unwrap_or_default();
        let was_full = n_own >= places.n_of_account
            || is_large && self.n_large >= places.n_large
            || is_asynchronous && self.n_asynchronous >= places.n_asynchronous()
            || is_large && is_asynchronous && self.n_large_asynchronous >= places.n_large_asynchronous();
        self.n_shares_freed += u64::from(was_full);
        if n_own > 1 {
            self.of_account.insert(of_account, n_own - 1);
        }
        self.n_working -= 1;
        self.n_asynchronous -= usize::from(is_asynchronous);
        self.n_large -= usize::from(is_large);
        self.n_large_asynchronous -= usize::from(is_large && is_asynchronous);
    }
}

impl Hold {
    /// Frees the place for another job. The claim is held until its end is written.
    pub fn work_is_over(&mut self) {
        if std::mem::take(&mut self.is_working) {
            let inner = &self.claims.0;
            inner.claims.lock().free_place(inner.places, self.kind);
            inner.waker.wake();
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.work_is_over();
        let mut held = self.claims.0.claims.lock();
        held.fences.remove(&self.fence);
        held.n_suspects -= usize::from(self.kind.is_suspect);
        held.n_shares_freed += u64::from(self.kind.is_suspect);
        drop(held);
        self.claims.0.waker.wake();
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::JobId;

    const QUEUE: Queue = Queue::set(["a"])[0];

    fn fence() -> Fence {
        Fence { job: JobId(Uuid::now_v7()), attempt: 1 }
    }

    /// A claim of a job of account number `account`.
    fn hold(claims: &HeldClaims, account: u128, is_large: bool) -> Hold {
        hold_as(claims, account, is_large, false)
    }

    fn hold_as(claims: &HeldClaims, account: u128, is_large: bool, is_asynchronous: bool) -> Hold {
        let account_id = Uuid::from_u128(account);
        claims.hold(fence(), JobKind { account_id, is_asynchronous, is_large, is_suspect: false }).unwrap()
    }

    fn n_free(claims: &HeldClaims) -> usize {
        claims.free(QUEUE).map_or(0, |free| free.n)
    }

    #[test]
    fn a_place_is_free_when_the_work_is_over_but_ends_that_are_not_written_are_limited() {
        let claims = HeldClaims::new(Places::any(2));
        let mut holds: Vec<_> = (0..2).map(|_| hold(&claims, 1, true)).collect();
        assert_eq!(n_free(&claims), 0);
        for hold in &mut holds {
            hold.work_is_over();
            hold.work_is_over();
        }
        assert_eq!((n_free(&claims), claims.n_held()), (2, 2));
        holds.extend((0..2).map(|_| hold(&claims, 1, true)));
        for hold in &mut holds {
            hold.work_is_over();
        }
        assert_eq!((n_free(&claims), claims.n_held()), (0, 4), "four ends are not written");
        holds.pop();
        assert_eq!((n_free(&claims), claims.n_held()), (1, 3));
        holds.clear();
        assert_eq!((n_free(&claims), claims.n_held()), (2, 0));
    }

    #[test]
    fn an_account_and_large_uploads_have_only_some_of_the_places() {
        let claims = HeldClaims::new(Places { n: 4, n_of_account: 2, n_large: 1 });
        let n_shares_freed =
            || claims.poll_free(&Context::from_waker(futures::task::noop_waker_ref())).n_shares_freed;
        let any = FreePlaces::any(QUEUE, 1);
        let free = |full: &[u128], with_large| {
            let any = any.clone();
            let full_accounts = full.iter().map(|n| (Uuid::from_u128(*n), false)).collect();
            let n_asynchronous = 3;
            let with_large_asynchronous = with_large;
            Some(FreePlaces { n_asynchronous, full_accounts, with_large, with_large_asynchronous, ..any })
        };
        assert_eq!(claims.free(QUEUE), free(&[], true), "one at a time");
        let mut large = hold(&claims, 1, true);
        assert_eq!(claims.free(QUEUE), free(&[], false));
        let small = hold(&claims, 1, false);
        assert_eq!(claims.free(QUEUE), free(&[1], false));
        let others = [hold(&claims, 2, false), hold(&claims, 3, false)];
        assert_eq!(claims.free(QUEUE), None);
        drop(others);
        assert_eq!(n_shares_freed(), 0, "nobody waited for these");
        large.work_is_over();
        assert_eq!((claims.free(QUEUE), n_shares_freed()), (free(&[], true), 1));
        drop((large, small));
        assert_eq!((claims.free(QUEUE), n_shares_freed()), (free(&[], true), 1));
    }

    #[test]
    fn jobs_that_nobody_waits_for_leave_places_to_the_others() {
        let claims = HeldClaims::new(Places { n: 8, n_of_account: 2, n_large: 4 });
        let n_shares_freed =
            || claims.poll_free(&Context::from_waker(futures::task::noop_waker_ref())).n_shares_freed;
        let free = || claims.free(QUEUE).unwrap();
        let mut held: Vec<_> = [1, 1, 2].map(|account| hold_as(&claims, account, true, true)).into();
        let FreePlaces { full_accounts, with_large, with_large_asynchronous, .. } = free();
        assert_eq!(full_accounts, [(Uuid::from_u128(1), true)], "it may have others that it waits for");
        assert!(with_large && !with_large_asynchronous);
        held.extend([2, 3, 3].map(|account| hold_as(&claims, account, false, true)));
        assert_eq!((free().n, free().n_asynchronous), (1, 0));
        assert_eq!(n_shares_freed(), 0);
        held.pop();
        assert_eq!((free().n_asynchronous, n_shares_freed()), (1, 1));
        let _waiting = [hold(&claims, 1, true), hold(&claims, 1, false), hold(&claims, 4, false)];
        assert_eq!(claims.free(QUEUE), None);
    }
}
