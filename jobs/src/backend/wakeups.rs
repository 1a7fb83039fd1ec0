//! Wakes a queue's consumer when jobs of the queue are announced. A consumer can tell whether jobs were announced
//! since it last checked.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    task::Context,
};

use futures::task::AtomicWaker;

use crate::Queue;

/// The wake-ups of all queues.
#[derive(Debug, Default)]
pub struct Wakeups([Wakeup; Queue::ALL.len()]);

#[derive(Debug, Default)]
pub(super) struct Wakeup {
    n_wakes: AtomicU64,
    waker: AtomicWaker,
}

impl Wakeup {
    fn wake(&self) {
        self.n_wakes.fetch_add(1, Ordering::Release);
        self.waker.wake();
    }

    /// Returns the number of wake-ups so far, and wakes the task of `cx` on the next one.
    pub(super) fn register(&self, cx: &Context<'_>) -> u64 {
        self.waker.register(cx.waker());
        self.n_wakes.load(Ordering::Acquire)
    }
}

impl Wakeups {
    pub(super) const fn of(&self, queue: Queue) -> &Wakeup {
        &self.0[queue as usize]
    }

    /// Wakes every consumer. Use this when announcements may have been missed.
    pub fn wake_all(&self) {
        self.0.iter().for_each(Wakeup::wake);
    }

    /// Wakes the consumers of the queues that an announcement names (see
    /// [`JOBS_QUEUED`](crate::store::JOBS_QUEUED)). Names that this version does not know are ignored.
    pub fn announce(&self, payload: &str) {
        for queue in payload.split(',').filter_map(Queue::from_name) {
            self.of(queue).wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n_wakes(wakeups: &Wakeups) -> [u64; 2] {
        let cx = Context::from_waker(futures::task::noop_waker_ref());
        Queue::ALL.map(|queue| wakeups.of(queue).register(&cx))
    }

    #[test]
    fn an_announcement_wakes_the_queues_it_names() {
        let wakeups = Wakeups::default();
        wakeups.announce("speech");
        assert_eq!(n_wakes(&wakeups), [0, 1]);
        wakeups.announce("quick,speech");
        assert_eq!(n_wakes(&wakeups), [1, 2]);
        for odd in ["", "other", "quick;speech"] {
            wakeups.announce(odd);
        }
        assert_eq!(n_wakes(&wakeups), [1, 2]);
        wakeups.wake_all();
        assert_eq!(n_wakes(&wakeups), [2, 3]);
    }
}
