//! The requests that wait for jobs to end, and how announcements wake them.
//!
//! An announcement is only a hint, which any role of the database can send: the waiter reads the job when it is woken. It
//! also reads the job once a second, so a lost announcement delays the response by at most a second.

use std::{collections::HashMap, sync::Arc, time::Duration};

use akhar_jobs::{
    Job, JobId,
    backend::{BatchError, Lookups},
};
use parking_lot::Mutex;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until, timeout_at},
};
use tokio_util::sync::CancellationToken;

use akhar_platform::database::Transient as _;

/// How often a waiter reads its job if nothing is announced.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The least time between two wake-ups of a waiter. The first one comes at once, and the end of a job needs no other.
const WAKE_INTERVAL: Duration = Duration::from_millis(100);

/// All requests of this process that wait for a job.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiters {
    waiting: Arc<Mutex<HashMap<JobId, watch::Sender<()>>>>,
    /// Cancelled when the process has no more time to wait for jobs.
    out_of_time: CancellationToken,
}

/// A request that waits for a job. Dropping it ends the wait.
#[derive(Debug)]
pub(crate) struct Waiter {
    id: JobId,
    /// `None` only while the waiter is being dropped.
    wakes: Option<watch::Receiver<()>>,
    /// When it may be woken again.
    next_wake: Instant,
    waiters: Waiters,
}

impl Waiters {
    /// Waiters that all stop waiting when `out_of_time` is cancelled.
    pub(crate) fn new(out_of_time: CancellationToken) -> Self {
        Self { waiting: Arc::default(), out_of_time }
    }

    /// How many jobs are waited for.
    pub(crate) fn n_jobs(&self) -> usize {
        self.waiting.lock().len()
    }

    /// Starts waiting. The waiter gets all announcements from now on.
    pub(crate) fn subscribe(&self, id: JobId) -> Waiter {
        let wakes = self.waiting.lock().entry(id).or_insert_with(|| watch::Sender::new(())).subscribe();
        Waiter { id, wakes: Some(wakes), next_wake: Instant::now(), waiters: self.clone() }
    }

    /// Wakes the requests that wait for a job whose end was announced.
    pub(crate) fn wake(&self, id: JobId) {
        if let Some(waiting) = self.waiting.lock().get(&id) {
            waiting.send_replace(());
        }
    }

    /// Wakes all waiters. Call this when announcements may have been missed.
    pub(crate) fn wake_all(&self) {
        for waiting in self.waiting.lock().values() {
            waiting.send_replace(());
        }
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiting = self.waiters.waiting.lock();
        self.wakes = None; // inside the lock, so that the last waiter of a job finds no other receiver
        if waiting.get(&self.id).is_some_and(|w| w.receiver_count() == 0) {
            waiting.remove(&self.id);
        }
    }
}

impl Waiter {
    /// Waits for a wake-up, the poll interval, the deadline or the end of the process's time, whichever is first.
    pub(crate) async fn wait_for_wake_up(&mut self, deadline: Instant) {
        let until = deadline.min(Instant::now() + POLL_INTERVAL);
        let Some(wakes) = &mut self.wakes else { return };
        let woken = async {
            let _ = wakes.changed().await; // its sender is kept while there is a waiter
            if Instant::now() < self.next_wake {
                sleep_until(self.next_wake).await; // also a sleep of no time takes up to a millisecond
            }
            self.next_wake = Instant::now() + WAKE_INTERVAL;
        };
        tokio::select! {
            _woken_or_time = timeout_at(until, woken) => (),
            () = self.waiters.out_of_time.cancelled() => (),
        }
    }

    /// The job when it has ended, or as it was last read when the deadline has passed or the process has no more time.
    /// `None` if there is no such job. An error if it could not be read. It first waits and then reads the job, so call
    /// it for a job that was just submitted or read.
    pub(crate) async fn until_ended(
        &mut self,
        lookups: &Lookups,
        deadline: Instant,
    ) -> Result<Option<Job>, BatchError> {
        let mut latest = Err(sqlx::Error::PoolTimedOut.into());
        loop {
            self.wait_for_wake_up(deadline).await;
            let limit = deadline.max(Instant::now() + POLL_INTERVAL);
            match timeout_at(limit, lookups.find(self.id)).await {
                Ok(Ok(Some(job))) if !job.state.is_final() => latest = Ok(Some(job)),
                Ok(Err(error)) if error.is_transient() => {
                    tracing::debug!(%error, "the database is unavailable: continuing to wait");
                }
                Ok(found) => return found,
                Err(_) => tracing::debug!("the database does not answer: continuing to wait"),
            }
            if Instant::now() >= deadline || self.waiters.out_of_time.is_cancelled() {
                return latest;
            }
        }
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
        let waiters = Waiters::default();
        let id = id();
        let mut waiter = waiters.subscribe(id);
        waiters.wake(id);
        let started = Instant::now();
        waiter.wait_for_wake_up(started + POLL_INTERVAL * 60).await;
        assert!(started.elapsed().is_zero());
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_waiters_of_a_job_are_woken() {
        let waiters = Waiters::default();
        let [a, b] = [id(), id()];
        let [mut one, mut two, mut other] = [a, a, b].map(|id| waiters.subscribe(id));
        waiters.wake(a);
        let started = Instant::now();
        one.wait_for_wake_up(started + POLL_INTERVAL).await;
        two.wait_for_wake_up(started + POLL_INTERVAL).await;
        assert!(started.elapsed().is_zero());
        other.wait_for_wake_up(started + POLL_INTERVAL * 60).await;
        assert_eq!(started.elapsed(), POLL_INTERVAL, "only the poll interval wakes it");
        waiters.wake_all();
        let woken = Instant::now();
        other.wait_for_wake_up(woken + POLL_INTERVAL).await;
        assert!(woken.elapsed().is_zero());
    }

    #[tokio::test(start_paused = true)]
    async fn a_flood_of_forged_announcements_does_not_make_a_waiter_look_all_the_time() {
        let waiters = Waiters::default();
        let id = id();
        let mut waiter = waiters.subscribe(id);
        let started = Instant::now();
        let mut n_looks = 0;
        while started.elapsed() < POLL_INTERVAL {
            waiters.wake(id);
            waiter.wait_for_wake_up(started + POLL_INTERVAL).await;
            n_looks += 1;
        }
        assert_eq!(n_looks, 11, "the first wake-up comes at once");
    }

    #[tokio::test(start_paused = true)]
    async fn the_deadline_ends_the_wait_for_a_wake_up() {
        let waiters = Waiters::default();
        let started = Instant::now();
        waiters.subscribe(id()).wait_for_wake_up(started + POLL_INTERVAL / 4).await;
        assert_eq!(started.elapsed(), POLL_INTERVAL / 4);
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_out_of_time_ends_the_wait_for_a_wake_up() {
        let out_of_time = CancellationToken::new();
        let waiters = Waiters::new(out_of_time.clone());
        let started = Instant::now();
        out_of_time.cancel();
        waiters.subscribe(id()).wait_for_wake_up(started + POLL_INTERVAL * 60).await;
        assert!(started.elapsed().is_zero());
    }

    #[test]
    fn a_job_is_forgotten_when_its_last_waiter_is_dropped() {
        let waiters = Waiters::default();
        let id = id();
        let [one, two] = [id, id].map(|id| waiters.subscribe(id));
        drop(one);
        assert_eq!(waiters.waiting.lock().len(), 1);
        drop(two);
        assert_eq!(waiters.waiting.lock().len(), 0);
        waiters.wake(id);
    }
}
