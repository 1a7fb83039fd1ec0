//! Who waits for which job: a job's id comes in, a wake-up goes out when its end is announced.
//!
//! An announcement brings the job along where it is small, as it was committed. Otherwise it is a hint: a waiter
//! looks the job up on every wake-up, and once a second besides, so a lost announcement costs a second and never
//! an answer.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::retry::Transient as _;
use akhar_jobs::{
    Job, JobId,
    backend::{GroupError, Lookups},
};
use tokio::{
    sync::watch,
    time::{Instant, timeout_at},
};

/// How often a row is looked at when nothing is announced.
const FLOOR: Duration = Duration::from_secs(1);

/// Everybody in this process who waits for a job.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiters(Arc<Mutex<HashMap<JobId, watch::Sender<Announced>>>>);

/// The ended job, if its announcement brought it along.
type Announced = Option<Arc<Job>>;

/// One who waits; leaving is dropping.
#[derive(Debug)]
pub(crate) struct Waiter {
    id: JobId,
    /// None only while it is being dropped.
    wakes: Option<watch::Receiver<Announced>>,
    waiters: Waiters,
}

/// What a waiter saw of its job at last.
#[derive(Debug)]
pub(crate) enum Seen {
    /// The job, ended or as it was when time was up.
    Job(Job),
    /// There is no such job (any more).
    Gone,
    /// Nothing: the database was away until time was up.
    Nothing,
}

impl Waiters {
    fn lock(&self) -> MutexGuard<'_, HashMap<JobId, watch::Sender<Announced>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts waiting: announcements from now on are heard.
    pub(crate) fn subscribe(&self, id: JobId) -> Waiter {
        let wakes = self.lock().entry(id).or_insert_with(|| watch::Sender::new(None)).subscribe();
        Waiter { id, wakes: Some(wakes), waiters: self.clone() }
    }

    /// A job has ended; `job` is it, if its announcement brought it along.
    pub(crate) fn wake(&self, id: JobId, job: Option<Job>) {
        if let Some(waiting) = self.lock().get(&id) {
            waiting.send_replace(job.map(Arc::new));
        }
    }

    /// Any job may have ended: announcements may have been missed.
    pub(crate) fn wake_all(&self) {
        for waiting in self.lock().values() {
            waiting.send_replace(None);
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiting = self.waiters.lock();
        self.wakes = None; // under the lock, so that the last one out sees that it is
        if waiting.get(&self.id).is_some_and(|w| w.receiver_count() == 0) {
            waiting.remove(&self.id);
        }
    }
}

impl Waiter {
    /// Waits for a wake-up, the floor or the deadline, whichever is first.
    async fn rest(&mut self, deadline: Instant) {
        let until = deadline.min(Instant::now() + FLOOR);
        if let Some(wakes) = &mut self.wakes {
            let _woken_or_time = timeout_at(until, wakes.changed()).await;
        }
    }

    /// The job, if it ended and its announcement brought it along.
    fn announced(&self) -> Option<Job> {
        let announced = self.wakes.as_ref()?.borrow().clone();
        announced.filter(|job| job.state.is_final()).map(Arc::unwrap_or_clone)
    }

    /// Waits until the job has ended or the deadline has passed. The first look comes after the first
    /// wake-up: for a job just submitted or just looked at.
    pub(crate) async fn until_ended(
        &mut self,
        lookups: &Lookups,
        deadline: Instant,
    ) -> Result<Seen, GroupError> {
        let mut seen = Seen::Nothing;
        while Instant::now() < deadline {
            self.rest(deadline).await;
            if let Some(job) = self.announced() {
                return Ok(Seen::Job(job));
            }
            let limit = deadline.max(Instant::now() + FLOOR);
            match timeout_at(limit, lookups.find(self.id)).await {
                Ok(Ok(Some(job))) if job.state.is_final() => return Ok(Seen::Job(job)),
                Ok(Ok(Some(job))) => seen = Seen::Job(job),
                Ok(Ok(None)) => return Ok(Seen::Gone),
                Ok(Err(error)) if error.is_transient() => {
                    tracing::debug!(%error, "waiting on: the database is away");
                }
                Ok(Err(error)) => return Err(error),
                Err(_) => tracing::debug!("waiting on: the database does not answer"),
            }
        }
        Ok(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn id() -> JobId {
        JobId(Uuid::now_v7())
    }

    #[tokio::test(start_paused = true)]
    async fn an_announcement_before_the_wait_is_not_lost() {
        let (waiters, id) = (Waiters::default(), id());
        let mut waiter = waiters.subscribe(id);
        waiters.wake(id, None);
        let started = Instant::now();
        waiter.rest(started + FLOOR * 60).await;
        assert!(started.elapsed().is_zero());
    }

    #[tokio::test(start_paused = true)]
    async fn all_who_wait_for_a_job_are_woken_and_others_are_not() {
        let (waiters, a, b) = (Waiters::default(), id(), id());
        let (mut one, mut two, mut other) =
            (waiters.subscribe(a), waiters.subscribe(a), waiters.subscribe(b));
        waiters.wake(a, None);
        let started = Instant::now();
        one.rest(started + FLOOR).await;
        two.rest(started + FLOOR).await;
        assert!(started.elapsed().is_zero());
        other.rest(started + FLOOR * 60).await;
        assert_eq!(started.elapsed(), FLOOR, "only the floor wakes it");
        waiters.wake_all();
        let woken = Instant::now();
        other.rest(woken + FLOOR).await;
        assert!(woken.elapsed().is_zero());
    }

    #[tokio::test(start_paused = true)]
    async fn the_deadline_ends_a_rest() {
        let waiters = Waiters::default();
        let started = Instant::now();
        waiters.subscribe(id()).rest(started + FLOOR / 4).await;
        assert_eq!(started.elapsed(), FLOOR / 4);
    }

    #[test]
    fn nothing_is_left_when_the_last_one_leaves() {
        let (waiters, id) = (Waiters::default(), id());
        let (one, two) = (waiters.subscribe(id), waiters.subscribe(id));
        drop(one);
        assert_eq!(waiters.lock().len(), 1);
        drop(two);
        assert_eq!(waiters.lock().len(), 0);
        waiters.wake(id, None);
    }
}
