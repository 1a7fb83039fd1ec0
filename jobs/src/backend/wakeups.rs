//! Wakes a queue's consumer when jobs of the queue are announced. A consumer can tell whether jobs were announced
//! since it last checked.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    task::Context,
};

use futures::task::AtomicWaker;

use crate::{Queue, queue::ByQueue};

/// The wake-ups of all queues.
#[derive(Debug)]
pub struct Wakeups(ByQueue<Wakeup>);

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
    /// Those of these queues.
    pub fn new(queues: &'static [Queue]) -> Self {
        Self(ByQueue::new(queues, |_| Wakeup::default()))
    }

    pub(super) fn of(&self, queue: Queue) -> &Wakeup {
        self.0.of(queue)
    }

    /// Wakes every consumer. Use this when announcements may have been missed.
    pub fn wake_all(&self) {
        self.0.iter().for_each(|(_, wakeup)| wakeup.wake());
    }

    /// Wakes the consumers of the queues that an announcement names (see
    /// [`JOBS_QUEUED`](crate::store::JOBS_QUEUED)). Names that this version does not know are ignored.
    pub fn announce(&self, payload: &str) {
        let is_named = |queue: Queue| payload.split(',').any(|name| name == queue.name());
        self.0.iter().filter(|(queue, _)| is_named(*queue)).for_each(|(_, wakeup)| wakeup.wake());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUEUES: [Queue; 2] = Queue::set(["quick", "slow"]);

    fn n_wakes(wakeups: &Wakeups) -> [u64; 2] {
        let cx = Context::from_waker(futures::task::noop_waker_ref());
        QUEUES.map(|queue| wakeups.of(queue).register(&cx))
    }

    #[test]
    fn an_announcement_wakes_the_queues_it_names() {
        let wakeups = Wakeups::new(&QUEUES);
        wakeups.announce("slow");
        assert_eq!(n_wakes(&wakeups), [0, 1]);
        wakeups.announce("quick,slow");
        assert_eq!(n_wakes(&wakeups), [1, 2]);
        for odd in ["", "other", "quick;slow"] {
            wakeups.announce(odd);
        }
        assert_eq!(n_wakes(&wakeups), [1, 2]);
        wakeups.wake_all();
        assert_eq!(n_wakes(&wakeups), [2, 3]);
    }
}
