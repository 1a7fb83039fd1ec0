//! Limits how many jobs may wait in a queue, and says how many of a group of new jobs it still accepts.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use sqlx::PgPool;

use crate::{Queue, store};

/// Age after which a count is refreshed in the background.
const MAX_AGE: Duration = Duration::from_secs(1);

/// The bound on jobs that wait in one queue.
///
/// Counting the rows for every submission would cost more than the submission itself. Instead, the number of waiting
/// jobs is estimated: the last count plus the jobs that this process has submitted since. Of this process's own jobs,
/// at most as many as estimated are waiting. If the estimate reaches the bound, the rows are counted again before a
/// job is refused. Jobs submitted by other processes are included with the next count, which is at most a second away
/// while this process submits jobs.
#[derive(Debug, Clone)]
pub struct Admission(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    max_waiting: i64,
    estimates: Mutex<[Estimate; Queue::ALL.len()]>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Estimate {
    /// The last count plus the jobs submitted since.
    n_waiting: i64,
    /// When the last count began. `None` before the first count.
    counted_at: Option<Instant>,
    /// Whether a background count is running.
    is_counting: bool,
}

impl Admission {
    /// Allows at most `max_waiting` waiting jobs in each queue.
    pub fn new(max_waiting: i64) -> Self {
        Self(Arc::new(Inner { max_waiting, estimates: Mutex::default() }))
    }

    /// The number of jobs that may wait in each queue.
    pub fn max_waiting(&self) -> i64 {
        self.0.max_waiting
    }

    /// Returns how many of `n_new` jobs the queue accepts, and adds that number to the estimate of waiting jobs.
    pub(super) async fn admit(&self, db: &PgPool, queue: Queue, n_new: usize) -> Result<usize, sqlx::Error> {
        let n_new = i64::try_from(n_new).unwrap_or(i64::MAX);
        let estimate = self.lock()[queue as usize];
        let is_first = estimate.counted_at.is_none();
        if is_first || estimate.n_waiting.saturating_add(n_new) > self.0.max_waiting {
            self.count(db, queue).await?;
        } else if estimate.counted_at.is_some_and(|at| at.elapsed() > MAX_AGE) && !estimate.is_counting {
            self.lock()[queue as usize].is_counting = true;
            let (admission, db) = (self.clone(), db.clone());
            tokio::spawn(async move {
                if let Err(error) = admission.count(&db, queue).await {
                    tracing::debug!(%error, "cannot count the waiting jobs");
                }
                admission.lock()[queue as usize].is_counting = false;
            });
        }
        let mut estimates = self.lock();
        let estimate = &mut estimates[queue as usize];
        let n_admitted = n_new.min(self.0.max_waiting - estimate.n_waiting).max(0);
        estimate.n_waiting += n_admitted;
        Ok(usize::try_from(n_admitted).unwrap_or(0))
    }

    async fn count(&self, db: &PgPool, queue: Queue) -> Result<(), sqlx::Error> {
        let (began, n_before) = (Instant::now(), self.lock()[queue as usize].n_waiting);
        let n_waiting = store::n_waiting(db, queue, self.0.max_waiting).await?;
        let mut estimates = self.lock();
        let estimate = &mut estimates[queue as usize];
        // Jobs submitted during the count may be missing from it, so they are added.
        let n_since = (estimate.n_waiting - n_before).max(0);
        (estimate.n_waiting, estimate.counted_at) = (n_waiting + n_since, Some(began));
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, [Estimate; Queue::ALL.len()]> {
        self.0.estimates.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
