//! The queues that jobs wait in, and how often a job may be claimed.

/// How many attempts a job has before it fails permanently. One that the worker gives back does not count, and neither do the
/// first two whose worker dies. From then on the job is a suspect, and the number is small, because an input that crashes its
/// worker must not crash one worker after another.
pub const MAX_ATTEMPTS: i32 = 3;

/// A queue. Which queues there are, their users say (see [`Queue::set`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Queue {
    nth: usize,
    name: &'static str,
}

impl Queue {
    /// The queues of the service. Their names are stored in rows. A process has one set of queues only.
    pub const fn set<const N: usize>(names: [&'static str; N]) -> [Self; N] {
        let mut queues = [Self { nth: 0, name: "" }; N];
        let mut nth = 0;
        while nth < N {
            queues[nth] = Self { nth, name: names[nth] };
            nth += 1;
        }
        queues
    }

    /// The name in rows.
    pub const fn name(self) -> &'static str {
        self.name
    }
}

/// A value for each queue of a set.
#[derive(Debug, Clone)]
pub(crate) struct ByQueue<T>(Vec<T>, &'static [Queue]);

impl<T> ByQueue<T> {
    pub(crate) fn new(queues: &'static [Queue], of: impl FnMut(Queue) -> T) -> Self {
        Self(queues.iter().copied().map(of).collect(), queues)
    }

    pub(crate) fn of(&self, queue: Queue) -> &T {
        &self.0[queue.nth]
    }

    pub(crate) const fn queues(&self) -> &'static [Queue] {
        self.1
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Queue, &T)> {
        self.1.iter().copied().zip(&self.0)
    }
}
