//! Limits how many jobs may wait in a queue and how many of them may be one account's.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use akhar_platform::database::Pool;
use chrono::{DateTime, Utc};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::Mutex as AsyncMutex;
use uuid::Uuid;

use crate::{
    NewJob, Pace, Queue,
    backend::waiting::Waiting,
    fair_share::{Exceeded, Limit},
    queue::ByQueue,
    store::{self, QueueMode, WaitingJobs},
};

/// Age after which a count is refreshed in the background.
const MAX_AGE: Duration = Duration::from_secs(1);

/// A count is also not refreshed before this multiple of the time that it took, so that counting a very large queue
/// takes at most a twentieth of a core.
const MIN_AGE_PER_COUNTING_TIME: u32 = 20;

/// The longest time between two counts from which the pace of a queue is measured, if no job waited through all of it.
/// The queue may have been empty for the rest of that time.
const MAX_PACE_INTERVAL: Duration = Duration::from_secs(5);

/// When to try again if an operator drains the queue. How long that lasts is not known.
const CLOSED_RETRY_AFTER: Duration = Duration::from_secs(30);

/// A queue does not accept a job, because too many jobs wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueFull {
    /// The queue.
    pub queue: Queue,
    /// Whose limit is reached.
    pub limit: Limit,
    /// The time after which the queue will probably accept the job.
    pub retry_after: Duration,
}

/// The bound on jobs that wait in each queue.
///
/// Counting the rows for every submission would cost more than the submission itself. Instead, the waiting jobs are
/// estimated: those of the last count and those that this process has submitted since. At most as many as estimated
/// wait, apart from the jobs that other processes have submitted since the count. The next count is at most a second
/// away while this process submits jobs, unless the queue is very large. The rows are counted again before a job is refused.
///
/// At most one task at a time may submit jobs of one queue.
#[derive(Debug, Clone)]
pub struct Admission(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    max_waiting: AtomicI64,
    queues: ByQueue<QueueState>,
}

#[derive(Debug, Default)]
struct QueueState {
    estimate: Mutex<Estimate>,
    /// Locked while a count runs, so that there is one count at a time.
    counting: Arc<AsyncMutex<()>>,
}

#[derive(Debug, Default)]
struct Estimate {
    waiting: Waiting,
    pace: Pace,
    last_count: Option<Count>,
    /// An operator drains the queue.
    is_closed: bool,
}

#[derive(Debug, Clone, Copy)]
struct Count {
    began: Instant,
    took: Duration,
    /// The time of the count in the database, and the number of waiting jobs. `None` if no job was waiting.
    found: Option<(DateTime<Utc>, i64)>,
}

impl Admission {
    /// Allows at most `max_waiting` waiting jobs in each of these queues.
    pub fn new(max_waiting: i64, queues: &'static [Queue]) -> Self {
        let queues = ByQueue::new(queues, |_| QueueState::default());
        Self(Arc::new(Inner { max_waiting: max_waiting.into(), queues }))
    }

    /// The number of jobs that may wait in each queue.
    pub fn max_waiting(&self) -> i64 {
        self.0.max_waiting.load(Ordering::Relaxed)
    }

    /// Changes the number of jobs that may wait in each queue. Jobs that wait already stay.
    pub fn set_max_waiting(&self, max_waiting: i64) {
        self.0.max_waiting.store(max_waiting, Ordering::Relaxed);
    }

    /// Reads the modes of the queues, and counts the rows, again before the next job is accepted.
    pub fn forget_counts(&self) {
        for (_, state) in self.0.queues.iter() {
            state.estimate.lock().last_count = None;
        }
    }

    /// The queues.
    pub(super) fn queues(&self) -> &'static [Queue] {
        self.0.queues.queues()
    }

    /// Decides which of these jobs of one queue are accepted, in order. The accepted ones count as waiting from now on.
    pub(super) async fn admit(
        &self,
        db: &Pool,
        queue: Queue,
        jobs: &[Arc<NewJob>],
    ) -> Result<Vec<Result<(), QueueFull>>, sqlx::Error> {
        self.refresh(db, queue).await?;
        let max_waiting = self.max_waiting();
        let mut decisions: Vec<_> = {
            let mut estimate = self.estimate(queue);
            jobs.iter().map(|job| estimate.decide(queue, job, max_waiting)).collect()
        };
        if decisions.iter().any(Result::is_err) {
            let accepted = jobs.iter().zip(&decisions).filter(|(_, decision)| decision.is_ok());
            let not_inserted: Vec<_> = accepted.map(|(job, _)| job.account_id).collect();
            self.count(db, queue, &not_inserted).await?;
            let mut estimate = self.estimate(queue);
            for (job, decision) in jobs.iter().zip(&mut decisions).filter(|(_, decision)| decision.is_err()) {
                *decision = estimate.decide(queue, job, max_waiting);
            }
        }
        Ok(decisions)
    }

    /// Counts the rows if that was never done. If the last count is old, starts another one in the background.
    async fn refresh(&self, db: &Pool, queue: Queue) -> Result<(), sqlx::Error> {
        let last_count = self.estimate(queue).last_count;
        let Some(last_count) = last_count else { return self.count(db, queue, &[]).await };
        if last_count.began.elapsed() <= MAX_AGE.max(last_count.took * MIN_AGE_PER_COUNTING_TIME) {
            return Ok(());
        }
        let Ok(counting) = self.0.queues.of(queue).counting.clone().try_lock_owned() else {
            return Ok(()); // a count is running
        };
        let (began, earlier) = self.begin_count(queue, &[]);
        let admission = self.clone();
        let db = db.clone();
        tokio::spawn(async move {
            match read(&db, queue, earlier).await {
                Ok(counted) => admission.finish_count(queue, began, &counted),
                Err(error) => tracing::debug!(%error, "cannot count the waiting jobs"),
            }
            drop(counting);
        });
        Ok(())
    }

    /// Counts the rows. A job of each of the accounts `not_inserted` was accepted and is not in the database yet.
    async fn count(&self, db: &Pool, queue: Queue, not_inserted: &[Uuid]) -> Result<(), sqlx::Error> {
        let _counting = self.0.queues.of(queue).counting.lock().await;
        let (began, earlier) = self.begin_count(queue, not_inserted);
        let counted = read(db, queue, earlier).await?;
        self.finish_count(queue, began, &counted);
        Ok(())
    }

    /// Returns when the count began, and the time of the last count in the database.
    fn begin_count(&self, queue: Queue, not_inserted: &[Uuid]) -> (Instant, Option<DateTime<Utc>>) {
        let mut estimate = self.estimate(queue);
        estimate.waiting.begin_count(not_inserted);
        let found = estimate.last_count.and_then(|count| count.found);
        (Instant::now(), found.map(|(at, _)| at))
    }

    fn finish_count(&self, queue: Queue, began: Instant, (mode, counted): &(QueueMode, Vec<WaitingJobs>)) {
        let mut estimate = self.estimate(queue);
        estimate.is_closed = *mode == QueueMode::Draining;
        estimate.waiting.finish_count(counted);
        let n_earlier: i64 = counted.iter().map(|row| row.n_earlier).sum();
        if let Some(Count { began: last_began, found: Some((_, n_then)), .. }) = estimate.last_count {
            let elapsed = began.saturating_duration_since(last_began);
            if n_earlier > 0 || elapsed <= MAX_PACE_INTERVAL {
                let n_left = u32::try_from((n_then - n_earlier).max(0)).unwrap_or(u32::MAX);
                estimate.pace.observe(n_left, elapsed);
            }
        }
        let found = counted.first().map(|row| (row.counted_at, counted.iter().map(|row| row.n).sum()));
        estimate.last_count = Some(Count { began, took: began.elapsed(), found });
    }

    fn estimate(&self, queue: Queue) -> MutexGuard<'_, Estimate> {
        self.0.queues.of(queue).estimate.lock()
    }
}

impl Estimate {
    /// Accepts a job of this queue, unless a limit is reached.
    fn decide(&mut self, queue: Queue, job: &NewJob, max_waiting: i64) -> Result<(), QueueFull> {
        if self.is_closed {
            return Err(QueueFull { queue, limit: Limit::Closed, retry_after: CLOSED_RETRY_AFTER });
        }
        let full = |Exceeded { limit, n_to_start }| {
            let n_to_start = u32::try_from(n_to_start).unwrap_or(u32::MAX);
            QueueFull { queue, limit, retry_after: self.pace.time_for(n_to_start) }
        };
        self.waiting.admit(job.account_id, max_waiting, job.max_queued).map_err(full)
    }
}

/// Reads the mode of a queue and counts its waiting jobs.
async fn read(
    db: &Pool,
    queue: Queue,
    earlier: Option<DateTime<Utc>>,
) -> Result<(QueueMode, Vec<WaitingJobs>), sqlx::Error> {
    Ok((store::queue_mode(db, queue).await?, store::waiting(db, queue, earlier).await?))
}
